-- Of these jobs, named by a lease that has ended, those that still run under a lease that has ended. The
-- row of ids is repeated once per job.
SELECT q.lease_expires_at AS now, q.job_id, q.tenant_id, q.created_at, q.scheduled_at, q.lease_expires_at, q.progressed_at, q.version,
    q.fence, q.max_attempts, q.attempts, q.priority, q.progress_percent, q.running, q.cancel_requested, q.job_type, q.queue,
    COALESCE(q.head_hash, (SELECT e.event_hash FROM events e WHERE e.stream_id = q.job_id AND e.version = q.version)),
    q.worker_id, q.error_code, q.error_message
FROM job_queue q
WHERE q.running AND q.lease_expires_at <= ? AND q.job_id IN (VALUES (?))
ORDER BY q.lease_expires_at
