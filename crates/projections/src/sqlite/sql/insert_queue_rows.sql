INSERT INTO job_queue (job_id, tenant_id, created_at, scheduled_at, lease_expires_at, progressed_at, version, fence,
    max_attempts, attempts, priority, progress_percent, running, cancel_requested, job_type, queue, head_hash,
    worker_id, error_code, error_message)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
