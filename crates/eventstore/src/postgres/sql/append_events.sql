-- Ids follow the order of the arrays. A version that exists already fails the whole statement. The
-- arrays are taken apart in step: unnest() of all of them in FROM would first store each one's rows.
INSERT INTO events (tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes)
SELECT unnest($1::uuid[]), unnest($2::text[]), unnest($3::uuid[]), unnest($4::int4[]), unnest($5::text[]),
    unnest($6::int8[]), unnest($7::bytea[]), unnest($8::bytea[])
