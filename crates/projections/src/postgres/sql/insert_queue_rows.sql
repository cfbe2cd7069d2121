INSERT INTO job_queue (job_id, tenant_id, created_at, scheduled_at, lease_expires_at, progressed_at, version, fence,
    max_attempts, attempts, priority, progress_percent, running, cancel_requested, job_type, queue, head_hash,
    worker_id, error_code, error_message)
SELECT unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::int8[]), unnest($4::int8[]), unnest($5::int8[]),
    unnest($6::int8[]), unnest($7::int4[]), unnest($8::int4[]), unnest($9::int4[]), unnest($10::int4[]),
    unnest($11::int2[]), unnest($12::int2[]), unnest($13::bool[]), unnest($14::bool[]), unnest($15::text[]),
    unnest($16::text[]), unnest($17::bytea[]), unnest($18::text[]), unnest($19::text[]), unnest($20::text[])
