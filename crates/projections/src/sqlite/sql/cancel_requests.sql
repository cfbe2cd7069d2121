WITH asked(job_id) AS (VALUES (?))
SELECT q.job_id FROM asked CROSS JOIN job_queue q ON q.job_id = asked.job_id WHERE q.cancel_requested
