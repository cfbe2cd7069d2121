-- As read_stream.sql, for one version.
SELECT id, tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes, NULL::bytea AS stream_ids
FROM events
WHERE stream_id = $1 AND tenant_id = $2 AND version = $4
UNION ALL
SELECT id, tenant_id, 'Job', first_stream_id, version, event_type, occurred_at, event_hashes, event_lines, stream_ids
FROM cohort_events
WHERE first_stream_id BETWEEN $3 AND $1 AND last_stream_id >= $1 AND tenant_id = $2 AND version = $4
