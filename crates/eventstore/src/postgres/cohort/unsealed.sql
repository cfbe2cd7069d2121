-- How much is behind the highest sealed id and in the gaps below it, and since when.
WITH gap AS (SELECT unnest(first_ids) AS first_id, unnest(last_ids) AS last_id FROM seal_gaps)
SELECT COALESCE(sum(part.events), 0)::int8, min(part.oldest_at)
FROM (SELECT count(*) AS events, min(occurred_at) AS oldest_at FROM events WHERE id > $1
UNION ALL
SELECT sum(octet_length(event_hashes) / 32 - GREATEST($1 + 1 - id, 0)), min(occurred_at) FROM cohort_events
WHERE id >= ($1 & -64) AND id + octet_length(event_hashes) / 32 > $1 + 1
UNION ALL
SELECT count(*), min(late.occurred_at)
FROM gap CROSS JOIN LATERAL (SELECT occurred_at FROM events WHERE id BETWEEN gap.first_id AND gap.last_id) AS late
UNION ALL
SELECT sum(late.events), min(late.occurred_at)
FROM gap CROSS JOIN LATERAL (
    SELECT octet_length(event_hashes) / 32 - GREATEST(gap.first_id - id, 0) AS events, occurred_at FROM cohort_events
    WHERE id BETWEEN (gap.first_id & -64) AND gap.last_id AND id + octet_length(event_hashes) / 32 > gap.first_id
) AS late) AS part
