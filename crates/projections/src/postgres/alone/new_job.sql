-- A job of which nothing is known but that it was enqueued, and a hint for those who wait for one. By values: the
-- arrays of append_events.sql and insert_queue_rows.sql cost one job 70 us more, of 570 (decision 51).
WITH event AS (
    INSERT INTO events (tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes)
    VALUES ($1, $2, $3, 1, $4, $5, $6, $7)
), waiting AS (
    INSERT INTO job_queue (job_id, tenant_id, created_at, scheduled_at, version, max_attempts, attempts, priority,
        running, cancel_requested, job_type, queue)
    VALUES ($3, $1, $5, $8, 1, $9, 0, $10, false, false, $11, $12)
)
SELECT pg_notify('bpc_jobs', $13) WHERE $13 IS NOT NULL
