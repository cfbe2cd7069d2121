INSERT INTO queue_cohorts (piece_id, cohort_id, tenant_id, created_at, scheduled_at, lease_expires_at, members, max_attempts,
    priority, job_type, queue, worker_id)
SELECT unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::int8[]), unnest($5::int8[]), unnest($6::int8[]),
    unnest($7::int8[]), unnest($8::int4[]), unnest($9::int2[]), unnest($10::text[]), unnest($11::text[]), unnest($12::text[])
