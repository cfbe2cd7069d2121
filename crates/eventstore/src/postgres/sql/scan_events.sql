-- The unique index gives the order; ids break ties among rows that agree in stream and version, so
-- nothing larger than such a tie is ever sorted.
SELECT tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes, id
FROM events
WHERE $1::uuid IS NULL OR tenant_id = $1
ORDER BY stream_id, version, id
