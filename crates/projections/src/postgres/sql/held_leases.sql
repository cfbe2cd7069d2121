-- The rows of attempts by their fence, locked in one order so that two batches never wait for each
-- other in a circle.
SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now,
    q.job_id, q.tenant_id, q.created_at, q.scheduled_at, q.lease_expires_at, q.progressed_at, q.version, q.fence,
    q.max_attempts, q.attempts, q.priority, q.progress_percent, q.running, q.cancel_requested, q.job_type, q.queue,
    q.head_hash, q.worker_id, q.error_code, q.error_message
FROM unnest($2::uuid[], $3::int4[]) AS held(job_id, fence)
JOIN job_queue q ON q.job_id = held.job_id AND q.fence = held.fence
ORDER BY q.job_id
FOR UPDATE OF q
