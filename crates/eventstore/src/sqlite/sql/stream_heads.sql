-- The row is repeated once per stream. With a bare max(), SQLite takes the other columns from the
-- row that holds the maximum.
WITH wanted(stream_id) AS (VALUES (?))
SELECT e.stream_id, e.tenant_id, e.stream_type, max(e.version) AS version, e.event_hash
FROM wanted CROSS JOIN events e ON e.stream_id = wanted.stream_id
GROUP BY e.stream_id
