-- What a lease changes, and nothing that has to be sent: `Command::Lease` of the rule book in SQL. The
-- rows are locked and waiting, so they are where they were found. Answers where they are now.
UPDATE job_queue SET
    running = true, version = version + 1, fence = version + 1, attempts = attempts + 1, worker_id = $2,
    lease_expires_at = $3, head_hash = NULL, error_code = NULL, error_message = NULL
WHERE ctid = ANY($1::text[]::tid[])
RETURNING job_id, ctid::text
