SELECT job_id FROM job_queue WHERE job_id = ANY($1::uuid[]) AND cancel_requested
