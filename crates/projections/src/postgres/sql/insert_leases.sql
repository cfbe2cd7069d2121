INSERT INTO leases (lease_id, lease_expires_at, job_ids)
SELECT unnest($1::uuid[]), unnest($2::int8[]), unnest($3::bytea[])
