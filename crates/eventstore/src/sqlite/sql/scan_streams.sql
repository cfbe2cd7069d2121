-- As scan_events.sql, for one stream: SQLite has no arrays.
SELECT e.tenant_id, e.stream_type, e.stream_id, e.version, e.event_type, e.occurred_at, e.event_hash, e.event_bytes, e.id
FROM events AS i CROSS JOIN events AS e ON e.id = i.id
WHERE i.stream_id = $1
ORDER BY i.stream_id, i.version, i.id
