-- All rows of both tables by the first event in them. Each comes in the order of its index, so nothing is sorted.
SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes, NULL::bytea AS stream_ids
FROM events
UNION ALL
SELECT id, tenant_id, 'Job', first_stream_id, version, event_type, occurred_at, event_hashes, event_lines, stream_ids
FROM cohort_events
ORDER BY stream_id, version
