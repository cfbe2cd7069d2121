-- Only what can change while a job lives is set. An upsert although every row is there: its way to a
-- row is always the key, while the planner may join UPDATE .. FROM unnest() the other way round as long
-- as it believes the table to be empty, which it often was a moment ago (measured: some hundred times slower).
INSERT INTO job_queue AS q (job_id, tenant_id, created_at, scheduled_at, lease_expires_at, progressed_at, version, fence,
    max_attempts, attempts, priority, progress_percent, running, cancel_requested, job_type, queue, head_hash,
    worker_id, error_code, error_message)
SELECT unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::int8[]), unnest($4::int8[]), unnest($5::int8[]),
    unnest($6::int8[]), unnest($7::int4[]), unnest($8::int4[]), unnest($9::int4[]), unnest($10::int4[]),
    unnest($11::int2[]), unnest($12::int2[]), unnest($13::bool[]), unnest($14::bool[]), unnest($15::text[]),
    unnest($16::text[]), unnest($17::bytea[]), unnest($18::text[]), unnest($19::text[]), unnest($20::text[])
ON CONFLICT (job_id) DO UPDATE SET
    scheduled_at = excluded.scheduled_at, lease_expires_at = excluded.lease_expires_at,
    progressed_at = excluded.progressed_at, version = excluded.version, fence = excluded.fence,
    attempts = excluded.attempts, progress_percent = excluded.progress_percent, running = excluded.running,
    cancel_requested = excluded.cancel_requested, head_hash = excluded.head_hash, worker_id = excluded.worker_id,
    error_code = excluded.error_code, error_message = excluded.error_message
