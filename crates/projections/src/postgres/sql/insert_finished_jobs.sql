INSERT INTO finished_jobs (created_at, scheduled_at, finished_at, tenant_id, job_id, version, attempts, max_attempts,
    priority, resolved, status, job_type, queue, error_code, error_message)
SELECT unnest($1::int8[]), unnest($2::int8[]), unnest($3::int8[]), unnest($4::uuid[]), unnest($5::uuid[]),
    unnest($6::int4[]), unnest($7::int4[]), unnest($8::int4[]), unnest($9::int2[]), unnest($10::bool[]),
    unnest($11::text[]), unnest($12::text[]), unnest($13::text[]), unnest($14::text[]), unnest($15::text[])
ON CONFLICT (tenant_id, created_at, job_id) DO UPDATE SET
    scheduled_at = excluded.scheduled_at, finished_at = excluded.finished_at, version = excluded.version,
    attempts = excluded.attempts, resolved = excluded.resolved, status = excluded.status,
    error_code = excluded.error_code, error_message = excluded.error_message
