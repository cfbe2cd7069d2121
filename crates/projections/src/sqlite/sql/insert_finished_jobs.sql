INSERT INTO finished_jobs (created_at, scheduled_at, finished_at, tenant_id, job_id, version, attempts, max_attempts,
    priority, resolved, status, job_type, queue, error_code, error_message)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant_id, created_at, job_id) DO UPDATE SET
    scheduled_at = excluded.scheduled_at, finished_at = excluded.finished_at, version = excluded.version,
    attempts = excluded.attempts, resolved = excluded.resolved, status = excluded.status,
    error_code = excluded.error_code, error_message = excluded.error_message
