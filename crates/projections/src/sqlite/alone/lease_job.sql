-- What a lease changes, as in lease_jobs.sql, for one job.
UPDATE job_queue SET
    running = true, version = version + 1, fence = version + 1, attempts = attempts + 1, worker_id = ?1,
    lease_expires_at = ?2, head_hash = NULL, error_code = NULL, error_message = NULL
WHERE job_id = ?3 AND NOT running
