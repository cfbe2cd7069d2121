-- The row that has an event with this id in it, if it is in a cohort.
SELECT id, version, first_stream_id, last_stream_id, stream_ids, event_hashes, event_lines
FROM cohort_events
WHERE id = $1 & -64
