-- The row of ids is repeated once per job.
SELECT tenant_id, queue, job_type, count(*) FROM job_queue
WHERE running AND job_id IN (VALUES (?))
GROUP BY tenant_id, queue, job_type
