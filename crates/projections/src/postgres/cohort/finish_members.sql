INSERT INTO finished_cohorts (created_at, scheduled_at, finished_at, members, tenant_id, cohort_id, max_attempts, priority,
    job_type, queue)
SELECT unnest($1::int8[]), unnest($2::int8[]), unnest($3::int8[]), unnest($4::int8[]), unnest($5::uuid[]), unnest($6::uuid[]),
    unnest($7::int4[]), unnest($8::int2[]), unnest($9::text[]), unnest($10::text[])
