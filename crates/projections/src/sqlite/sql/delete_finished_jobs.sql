DELETE FROM finished_jobs WHERE (tenant_id, created_at, job_id) IN (VALUES (?, ?, ?))
