-- The same for pieces of which some have succeeded and others are left.
UPDATE queue_cohorts SET members = members & ~($2::int8[])[array_position($1::uuid[], piece_id)]
WHERE piece_id = ANY($1::uuid[]) AND worker_id = $3
    AND lease_expires_at > COALESCE($4, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
    AND members & ($2::int8[])[array_position($1::uuid[], piece_id)] = ($2::int8[])[array_position($1::uuid[], piece_id)]
    AND members <> ($2::int8[])[array_position($1::uuid[], piece_id)]
RETURNING 1
