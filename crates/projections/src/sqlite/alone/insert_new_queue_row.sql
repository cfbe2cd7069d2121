-- A job of which nothing is known but that it was enqueued.
INSERT INTO job_queue (job_id, tenant_id, created_at, scheduled_at, version, max_attempts, attempts, priority, running,
    cancel_requested, job_type, queue)
VALUES (?, ?, ?, ?, 1, ?, 0, ?, false, false, ?, ?)
