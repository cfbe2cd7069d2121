INSERT INTO finished_jobs (created_at, scheduled_at, finished_at, tenant_id, job_id, version, attempts, max_attempts,
    priority, resolved, status, job_type, queue, error_code, error_message)
SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::uuid[], $5::uuid[], $6::int4[], $7::int4[], $8::int4[],
    $9::int2[], $10::bool[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[])
