-- Rows of attempts that are held, unmoved since they were leased: taken out by what is known of them,
-- so a successful attempt reads nothing. Jobs that are not answered are looked at one by one.
WITH clock AS MATERIALIZED (
    SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now
), taken AS (
    DELETE FROM job_queue
    WHERE job_id = ANY($2::uuid[]) AND running AND version = fence AND worker_id = $3 AND NOT cancel_requested
        AND lease_expires_at > (SELECT now FROM clock)
    RETURNING job_id, fence
)
SELECT clock.now, taken.job_id, taken.fence FROM clock LEFT JOIN taken ON true
