-- "i" is read from the index alone, for its order. What is checked comes from the row in the table:
-- under one name for both, SQLite would take stream_id and version from the index, and an edit of the
-- table that spared the index would go unseen.
SELECT e.tenant_id, e.stream_type, e.stream_id, e.version, e.event_type, e.occurred_at, e.event_hash, e.event_bytes, e.id
FROM events AS i CROSS JOIN events AS e ON e.id = i.id
WHERE $1 IS NULL OR e.tenant_id = $1
ORDER BY i.stream_id, i.version, i.id
