UPDATE queue_cohorts SET worker_id = $2, lease_expires_at = $3 WHERE piece_id = ANY($1::uuid[])
