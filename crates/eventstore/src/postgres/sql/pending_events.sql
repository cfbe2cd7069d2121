-- Every visible event that is not sealed, at one moment: behind the highest sealed id, and in the gaps
-- below it. Only what a leaf is made of; the caller puts them in order. Gaps are looked up one by one,
-- because most of them are a few ids wide and nearly all of those will never be there. A column of all events
-- instead of a row for each: a row costs both sides more than all that is in it.
SELECT array_agg(id), array_agg(stream_type), array_agg(stream_id), array_agg(version), array_agg(event_hash)
FROM ((SELECT late.id, late.stream_type, late.stream_id, late.version, late.event_hash
FROM unnest($2::int8[], $3::int8[]) AS gap(first_id, last_id)
CROSS JOIN LATERAL (SELECT * FROM events WHERE id BETWEEN gap.first_id AND gap.last_id) AS late
LIMIT $4)
UNION ALL
(SELECT id, stream_type, stream_id, version, event_hash FROM events WHERE id > $1 ORDER BY id LIMIT $4)) AS pending
