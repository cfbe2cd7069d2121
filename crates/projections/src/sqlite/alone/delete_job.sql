DELETE FROM job_queue WHERE job_id = ?
