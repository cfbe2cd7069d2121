-- Jobs of attempts that are held, unmoved since they were leased, and succeeded with nothing to commit
-- but that: from the one view to the other by what is known of them. Nothing is sent but where their rows
-- were when they were leased, and nobody has touched them if they are as they should be; a job that is not
-- answered is looked at by itself. The place of a row that is gone may have been given to another, so the
-- caller must see whose rows these were before it commits.
WITH clock AS MATERIALIZED (
    SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now
), taken AS (
    DELETE FROM job_queue
    WHERE ctid = ANY($2::text[]::tid[]) AND running AND version = fence AND worker_id = $3 AND NOT cancel_requested
        AND lease_expires_at > (SELECT now FROM clock)
    RETURNING job_id, fence, tenant_id, created_at, scheduled_at, version, attempts, max_attempts, priority, job_type, queue
), finished AS (
    INSERT INTO finished_jobs (created_at, scheduled_at, finished_at, tenant_id, job_id, version, attempts, max_attempts,
        priority, resolved, status, job_type, queue)
    SELECT created_at, scheduled_at, (SELECT now FROM clock), tenant_id, job_id, version + 1, attempts, max_attempts,
        priority, false, 'SUCCEEDED', job_type, queue
    FROM taken
)
SELECT (SELECT now FROM clock), array_agg(job_id), array_agg(fence) FROM taken
