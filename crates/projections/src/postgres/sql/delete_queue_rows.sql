DELETE FROM job_queue WHERE job_id = ANY($1::uuid[])
