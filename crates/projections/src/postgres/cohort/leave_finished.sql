-- One job that succeeded together with others gets a row of its own. The last one takes the others' row with it.
WITH last AS (
    DELETE FROM finished_cohorts WHERE cohort_id = $1 AND members = $2::int8
    RETURNING created_at, scheduled_at, finished_at, tenant_id, max_attempts, priority, job_type, queue
), others AS (
    UPDATE finished_cohorts SET members = members & ~$2::int8
    WHERE cohort_id = $1 AND members & $2::int8 <> 0 AND members <> $2::int8
    RETURNING created_at, scheduled_at, finished_at, tenant_id, max_attempts, priority, job_type, queue
)
INSERT INTO finished_jobs (created_at, scheduled_at, finished_at, tenant_id, job_id, version, attempts, max_attempts, priority,
    resolved, status, job_type, queue)
SELECT created_at, scheduled_at, finished_at, tenant_id, $3::uuid, 3, 1, max_attempts, priority, false, 'SUCCEEDED', job_type, queue
FROM (SELECT * FROM last UNION ALL SELECT * FROM others) AS job
