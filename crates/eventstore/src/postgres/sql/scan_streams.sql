-- As scan_events.sql, for some streams. A cohort with one of them begins between the first id of the millisecond that the
-- stream was made in, which is in $2, and the stream itself.
SELECT tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes, id,
    false AS is_cohort, NULL::uuid AS last_stream_id, NULL::bytea AS stream_ids
FROM events
WHERE stream_id = ANY($1)
UNION ALL
SELECT tenant_id, 'Job', first_stream_id, version, event_type, occurred_at, event_hashes, event_lines, id,
    true, last_stream_id, stream_ids
FROM cohort_events
WHERE id IN (
    SELECT cohort.id
    FROM unnest($1::uuid[], $2::uuid[]) AS wanted(stream_id, earliest)
    JOIN cohort_events cohort ON cohort.first_stream_id BETWEEN wanted.earliest AND wanted.stream_id
        AND cohort.last_stream_id >= wanted.stream_id)
ORDER BY stream_id, version, id
