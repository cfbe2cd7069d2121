INSERT INTO leases (lease_id, lease_expires_at, job_ids) VALUES (?, ?, ?)
