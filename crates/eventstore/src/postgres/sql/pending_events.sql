-- Every visible event that is not sealed, at one moment: behind the highest sealed id, and in the gaps
-- below it. Only what a leaf is made of; the caller puts them in order. Gaps are looked up one by one,
-- because most of them are a few ids wide and nearly all of those will never be there; they ascend, and so does what is
-- found in them. A column of all events instead of a row for each: a row costs both sides more than all that is in it.
-- Rows of cohorts come whole, with the first id in them that is not sealed.
SELECT single.*, cohort.*
FROM (SELECT array_agg(id), array_agg(stream_type), array_agg(stream_id), array_agg(version), array_agg(event_hash)
FROM ((SELECT late.id, late.stream_type, late.stream_id, late.version, late.event_hash
FROM unnest($2::int8[], $3::int8[]) AS gap(first_id, last_id)
CROSS JOIN LATERAL (SELECT * FROM events WHERE id BETWEEN gap.first_id AND gap.last_id ORDER BY id) AS late
LIMIT $4)
UNION ALL
(SELECT id, stream_type, stream_id, version, event_hash FROM events WHERE id > $1 ORDER BY id LIMIT $4)) AS pending) AS single,
(SELECT array_agg(first_id), array_agg(id), array_agg(version), array_agg(stream_ids), array_agg(event_hashes)
FROM ((SELECT GREATEST(late.id, gap.first_id) AS first_id, late.id, late.version, late.stream_ids, late.event_hashes
FROM unnest($2::int8[], $3::int8[]) AS gap(first_id, last_id)
CROSS JOIN LATERAL (SELECT id, version, stream_ids, event_hashes FROM cohort_events
    WHERE id BETWEEN (gap.first_id & -64) AND gap.last_id AND id + octet_length(event_hashes) / 32 > gap.first_id
    ORDER BY id) AS late
LIMIT $5)
UNION ALL
(SELECT GREATEST(id, $1 + 1), id, version, stream_ids, event_hashes FROM cohort_events
WHERE id >= ($1 & -64) AND id + octet_length(event_hashes) / 32 > $1 + 1 ORDER BY id LIMIT $5)) AS pending) AS cohort
