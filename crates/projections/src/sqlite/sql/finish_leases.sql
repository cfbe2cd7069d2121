-- Jobs of attempts that are held, unmoved since they were leased, and succeeded with nothing to commit
-- but that: into the view of finished jobs by what is known of them. Those that are answered are then
-- deleted from the queue; one that is not is looked at by itself. The row of ids is repeated once per job.
INSERT INTO finished_jobs (finished_at, created_at, scheduled_at, tenant_id, job_id, version, attempts, max_attempts,
    priority, resolved, status, job_type, queue)
SELECT ?, created_at, scheduled_at, tenant_id, job_id, version + 1, attempts, max_attempts, priority, false, 'SUCCEEDED',
    job_type, queue
FROM job_queue
WHERE running AND version = fence AND worker_id = ? AND NOT cancel_requested AND lease_expires_at > ?
    AND job_id IN (VALUES (?))
RETURNING job_id, version
