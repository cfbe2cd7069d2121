-- Rows of cohorts that may hold streams of some spans, without what their events say. A span is within a millisecond: its
-- first id, the lowest and the highest stream, and the version, if only one is of interest.
SELECT c.id, c.tenant_id, c.version, c.stream_ids, c.event_hashes
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int4[]) AS span(start, lowest, highest, version)
CROSS JOIN LATERAL (
    SELECT * FROM cohort_events
    WHERE first_stream_id BETWEEN span.start AND span.highest AND last_stream_id >= span.lowest
        AND (span.version IS NULL OR cohort_events.version = span.version)
) AS c
