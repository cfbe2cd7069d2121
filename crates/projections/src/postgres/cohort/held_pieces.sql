-- Pieces that this worker holds, locked in one order so that two batches do not wait for each other in a circle.
SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), array_agg(piece_id), array_agg(members)
FROM (
    SELECT piece_id, members FROM queue_cohorts
    WHERE piece_id = ANY($2::uuid[]) AND worker_id = $3
        AND lease_expires_at > COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
    ORDER BY piece_id
    FOR UPDATE
) AS held
