-- A job whose attempt is held, unmoved since it was leased, and succeeded with nothing to commit but that: into
-- the view of finished jobs, as in finish_leases.sql, for one job.
INSERT INTO finished_jobs (finished_at, created_at, scheduled_at, tenant_id, job_id, version, attempts, max_attempts,
    priority, resolved, status, job_type, queue)
SELECT ?1, created_at, scheduled_at, tenant_id, job_id, version + 1, attempts, max_attempts, priority, false, 'SUCCEEDED',
    job_type, queue
FROM job_queue
WHERE job_id = ?2 AND fence = ?3 AND version = ?3 AND running AND worker_id = ?4 AND NOT cancel_requested
    AND lease_expires_at > ?5
