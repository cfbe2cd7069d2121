-- PostgreSQL keeps jobs that were enqueued together in rows of many (see there). Here a row costs little more than what is in
-- it, so each event and each job has its own. These views are what both databases show to people and their tools.

CREATE VIEW log_events AS
    SELECT id, occurred_at, version, tenant_id, stream_id, stream_type, event_type, event_hash, event_bytes FROM events;

CREATE VIEW live_jobs AS
    SELECT job_id, tenant_id, created_at, scheduled_at, lease_expires_at, progressed_at, version, fence, max_attempts,
        attempts, priority, progress_percent, running, cancel_requested, job_type, queue, head_hash, worker_id, error_code,
        error_message
    FROM job_queue;

CREATE VIEW ended_jobs AS
    SELECT created_at, scheduled_at, finished_at, tenant_id, job_id, version, attempts, max_attempts, priority, resolved,
        status, job_type, queue, error_code, error_message
    FROM finished_jobs;
