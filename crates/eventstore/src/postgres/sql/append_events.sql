-- Ids follow the order of the arrays. A version that exists already fails the whole statement.
INSERT INTO events (tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::int4[], $5::text[], $6::int8[], $7::bytea[], $8::bytea[])
