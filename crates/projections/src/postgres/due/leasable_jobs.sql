-- What is known of due jobs, with the ENQUEUED event that says the rest of them.
SELECT due.now, (SELECT e.event_bytes FROM events e WHERE e.stream_id = due.job_id AND e.version = 1),
    due.job_id, due.version, due.head_hash, due.attempts, due.scheduled_at, due.place::text
FROM due
