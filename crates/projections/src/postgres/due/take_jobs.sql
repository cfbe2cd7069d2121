-- The same, and the jobs are leased by the statement that finds them (measured: 8 us a job instead of 11). What a
-- row said before is known from where it was found; the place is where it is now.
found AS (
    UPDATE job_queue q SET
        running = true, version = q.version + 1, fence = q.version + 1, attempts = q.attempts + 1, worker_id = $9,
        lease_expires_at = due.now + $10::int8, head_hash = NULL, error_code = NULL, error_message = NULL
    FROM due
    WHERE q.ctid = due.place
    RETURNING due.now, q.ctid AS place, due.job_id, due.version, due.head_hash, due.attempts, due.scheduled_at,
        COALESCE((SELECT e.event_bytes FROM events e WHERE e.stream_id = due.job_id AND e.version = 1),
            enqueued_in_cohort(due.job_id)) AS enqueued
)
