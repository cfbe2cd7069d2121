-- Pieces of which all who are left have succeeded, if their worker still holds them by the time that counts.
DELETE FROM queue_cohorts
WHERE piece_id = ANY($1::uuid[]) AND worker_id = $3
    AND lease_expires_at > COALESCE($4, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
    AND members = ($2::int8[])[array_position($1::uuid[], piece_id)]
RETURNING 1
