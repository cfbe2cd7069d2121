-- Jobs of which nothing is known but that they were enqueued, which is nearly all that is ever inserted here:
-- half of the columns need not be sent.
INSERT INTO job_queue (job_id, tenant_id, created_at, scheduled_at, version, max_attempts, attempts, priority, running,
    cancel_requested, job_type, queue, head_hash)
VALUES (?, ?, ?, ?, 1, ?, 0, ?, false, false, ?, ?, ?)
