-- Only what can change while a job lives.
UPDATE job_queue AS q SET
    scheduled_at = u.scheduled_at, lease_expires_at = u.lease_expires_at, progressed_at = u.progressed_at,
    version = u.version, fence = u.fence, attempts = u.attempts, progress_percent = u.progress_percent,
    running = u.running, cancel_requested = u.cancel_requested, head_hash = u.head_hash, worker_id = u.worker_id,
    error_code = u.error_code, error_message = u.error_message
FROM unnest($1::uuid[], $2::int8[], $3::int8[], $4::int8[], $5::int4[], $6::int4[], $7::int4[], $8::int2[], $9::bool[],
    $10::bool[], $11::bytea[], $12::text[], $13::text[], $14::text[])
    AS u(job_id, scheduled_at, lease_expires_at, progressed_at, version, fence, attempts, progress_percent, running,
    cancel_requested, head_hash, worker_id, error_code, error_message)
WHERE q.job_id = u.job_id
