-- The job's id alone tells which rows are meant; the rest is there for the index. Not a join: see
-- update_queue_rows.sql.
DELETE FROM finished_jobs
WHERE tenant_id = ANY($1::uuid[]) AND created_at = ANY($2::int8[]) AND job_id = ANY($3::uuid[])
