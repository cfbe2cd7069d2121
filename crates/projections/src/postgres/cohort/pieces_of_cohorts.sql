SELECT piece_id, cohort_id, tenant_id, created_at, scheduled_at, members, max_attempts, priority, job_type, queue, worker_id,
    lease_expires_at
FROM queue_cohorts
WHERE cohort_id = ANY($1::uuid[])
ORDER BY piece_id
FOR UPDATE
