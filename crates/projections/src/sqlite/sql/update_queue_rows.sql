-- Only what can change while a job lives. VALUES names its columns column1, column2, ...
UPDATE job_queue SET
    scheduled_at = u.column2, lease_expires_at = u.column3, progressed_at = u.column4, version = u.column5,
    fence = u.column6, attempts = u.column7, progress_percent = u.column8, running = u.column9,
    cancel_requested = u.column10, head_hash = u.column11, worker_id = u.column12, error_code = u.column13,
    error_message = u.column14
FROM (VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)) AS u
WHERE job_queue.job_id = u.column1
