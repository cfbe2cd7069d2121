-- The row is repeated once per event; SQLite has no arrays.
INSERT INTO events (tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
