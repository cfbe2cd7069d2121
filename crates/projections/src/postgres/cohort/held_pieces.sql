-- Pieces that this worker holds, locked in one order so that two batches seldom wait for each other in a circle (one that has
-- locked rows of single jobs before can; the server then refuses one, which is tried again).
WITH clock AS MATERIALIZED (
    SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now
), held AS (
    SELECT piece_id, members FROM queue_cohorts
    WHERE piece_id = ANY($2::uuid[]) AND worker_id = $3 AND lease_expires_at > (SELECT now FROM clock)
    ORDER BY piece_id
    FOR UPDATE
)
SELECT (SELECT now FROM clock), array_agg(piece_id), array_agg(members) FROM held
