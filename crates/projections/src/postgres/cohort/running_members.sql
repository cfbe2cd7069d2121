SELECT tenant_id, queue, job_type, sum(bit_count(members::bit(64)))::int8 FROM queue_cohorts
WHERE worker_id IS NOT NULL
GROUP BY tenant_id, queue, job_type
