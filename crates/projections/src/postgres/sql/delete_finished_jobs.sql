DELETE FROM finished_jobs AS f USING unnest($1::uuid[], $2::int8[], $3::uuid[]) AS u(tenant_id, created_at, job_id)
WHERE f.tenant_id = u.tenant_id AND f.created_at = u.created_at AND f.job_id = u.job_id
