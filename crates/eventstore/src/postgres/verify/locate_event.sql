-- The job and version of an event that is in a cohort.
SELECT substr(stream_ids, 16 * ($1 & 63)::int + 1, 16), version
FROM cohort_events
WHERE id = $1 & -64
