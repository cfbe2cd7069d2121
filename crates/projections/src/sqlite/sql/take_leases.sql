-- Rows of attempts that are held, unmoved since they were leased: taken out by what is known of them,
-- so a successful attempt reads nothing. Jobs that are not answered are looked at one by one. The row
-- of ids is repeated once per job.
DELETE FROM job_queue
WHERE running AND version = fence AND worker_id = ? AND NOT cancel_requested AND lease_expires_at > ?
    AND job_id IN (VALUES (?))
RETURNING job_id, fence
