-- A column of all jobs instead of a row for each: a row costs both sides more than all that is in it.
SELECT max(now), array_agg(enqueued), array_agg(job_id), array_agg(version), array_agg(head_hash),
    array_agg(attempts), array_agg(scheduled_at), array_agg(place::text), (SELECT is_due FROM cohort)
FROM found
