-- What a lease changes, and nothing that has to be sent: `Command::Lease` of the rule book in SQL. The
-- row of ids is repeated once per job.
UPDATE job_queue SET
    running = true, version = version + 1, fence = version + 1, attempts = attempts + 1, worker_id = ?,
    lease_expires_at = ?, head_hash = NULL, error_code = NULL, error_message = NULL
WHERE NOT running AND job_id IN (VALUES (?))
