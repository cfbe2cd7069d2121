-- Of these jobs, named by a lease that has ended, those that still run under a lease that has ended.
SELECT $1::int8 AS now, q.job_id, q.tenant_id, q.created_at, q.scheduled_at, q.lease_expires_at, q.progressed_at, q.version, q.fence,
    q.max_attempts, q.attempts, q.priority, q.progress_percent, q.running, q.cancel_requested, q.job_type, q.queue,
    COALESCE(q.head_hash, (SELECT e.event_hash FROM events e WHERE e.stream_id = q.job_id AND e.version = q.version)),
    q.worker_id, q.error_code, q.error_message
FROM job_queue q
WHERE q.job_id = ANY($2::uuid[]) AND q.running AND q.lease_expires_at <= $1
ORDER BY q.lease_expires_at
FOR UPDATE SKIP LOCKED
