WITH clock AS MATERIALIZED (
    SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now
)
SELECT clock.now, q.job_id, q.tenant_id, q.created_at, q.scheduled_at, q.lease_expires_at, q.progressed_at, q.version, q.fence,
    q.max_attempts, q.attempts, q.priority, q.progress_percent, q.running, q.cancel_requested, q.job_type, q.queue,
    COALESCE(q.head_hash, (SELECT e.event_hash FROM events e WHERE e.stream_id = q.job_id AND e.version = q.version)),
    q.worker_id, q.error_code, q.error_message
FROM clock, LATERAL (
    SELECT * FROM job_queue WHERE running AND lease_expires_at <= clock.now
    ORDER BY lease_expires_at LIMIT $2
    FOR UPDATE SKIP LOCKED
) AS q
