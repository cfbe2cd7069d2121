-- What is known of due jobs, with the ENQUEUED event that says the rest of them.
found AS (
    SELECT due.*, COALESCE((SELECT e.event_bytes FROM events e WHERE e.stream_id = due.job_id AND e.version = 1),
            enqueued_in_cohort(due.job_id)) AS enqueued
    FROM due
)
