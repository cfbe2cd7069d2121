SELECT tenant_id, queue, job_type, count(*) FROM job_queue
WHERE job_id = ANY($1::uuid[]) AND running
GROUP BY tenant_id, queue, job_type
