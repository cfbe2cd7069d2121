-- The cohorts that jobs were enqueued in: those that begin in the millisecond ($2) a job's id was made in, before it, and end
-- behind it. Of the several that this may be, the ids tell which.
SELECT e.stream_ids
FROM unnest($1::uuid[], $2::uuid[]) AS wanted(job_id, since)
CROSS JOIN LATERAL (
    SELECT c.stream_ids FROM cohort_events c
    WHERE c.version = 1 AND c.first_stream_id BETWEEN wanted.since AND wanted.job_id AND c.last_stream_id >= wanted.job_id
    OFFSET 0
) AS e
