INSERT INTO job_queue (job_id, tenant_id, created_at, scheduled_at, lease_expires_at, progressed_at, version, fence,
    max_attempts, attempts, priority, progress_percent, running, cancel_requested, job_type, queue, head_hash,
    worker_id, error_code, error_message)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int4[], $8::int4[],
    $9::int4[], $10::int4[], $11::int2[], $12::int2[], $13::bool[], $14::bool[], $15::text[], $16::text[], $17::bytea[],
    $18::text[], $19::text[], $20::text[])
