-- Ids follow the order of the arrays. One element is what all jobs of a cohort say together.
INSERT INTO cohort_events (occurred_at, version, tenant_id, first_stream_id, last_stream_id, event_type, stream_ids, event_hashes,
    event_lines)
SELECT unnest($1::int8[]), unnest($2::int4[]), unnest($3::uuid[]), unnest($4::uuid[]), unnest($5::uuid[]), unnest($6::text[]),
    unnest($7::bytea[]), unnest($8::bytea[]), unnest($9::bytea[])
