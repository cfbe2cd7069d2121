-- The rows of live jobs, locked in one order so that two batches seldom wait for each other in a circle
-- (a batch that has finished jobs before it comes here can; the server then refuses one, which is tried
-- again).
-- Whether the fence is the right one is seen by the caller: a join against the wanted fences can be
-- planned the wrong way round, see update_queue_rows.sql.
SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now,
    q.job_id, q.tenant_id, q.created_at, q.scheduled_at, q.lease_expires_at, q.progressed_at, q.version, q.fence,
    q.max_attempts, q.attempts, q.priority, q.progress_percent, q.running, q.cancel_requested, q.job_type, q.queue,
    COALESCE(q.head_hash, (SELECT e.event_hash FROM events e WHERE e.stream_id = q.job_id AND e.version = q.version)),
    q.worker_id, q.error_code, q.error_message
FROM job_queue q
WHERE q.job_id = ANY($2::uuid[])
ORDER BY q.job_id
FOR UPDATE
