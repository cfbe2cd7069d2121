-- As scan_events.sql, for some streams.
SELECT tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes, id
FROM events
WHERE stream_id = ANY($1)
ORDER BY stream_id, version, id
