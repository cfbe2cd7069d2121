-- The rows that hold events with ids from $1 to $2, in order.
SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes, NULL::bytea AS stream_ids
FROM events
WHERE id BETWEEN $1 AND $2
UNION ALL
SELECT id, tenant_id, 'Job', first_stream_id, version, event_type, occurred_at, event_hashes, event_lines, stream_ids
FROM cohort_events
WHERE id BETWEEN ($1 & -64) AND $2
ORDER BY id
