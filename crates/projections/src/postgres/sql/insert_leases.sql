-- At most one of them says how far it got.
INSERT INTO leases (lease_id, lease_expires_at, job_ids, scope, reached)
SELECT lease_id, lease_expires_at, job_ids, scope, CASE WHEN scope IS NOT NULL THEN $5::int8[] END
FROM (
    SELECT unnest($1::uuid[]) AS lease_id, unnest($2::int8[]) AS lease_expires_at, unnest($3::bytea[]) AS job_ids,
        unnest($4::uuid[]) AS scope
) AS lease
