-- The row is repeated once per event.
WITH wanted(stream_id, version) AS (VALUES (?, ?))
SELECT e.stream_id, e.version, e.event_hash
FROM wanted CROSS JOIN events e ON e.stream_id = wanted.stream_id AND e.version = wanted.version
