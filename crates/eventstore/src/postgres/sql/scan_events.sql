-- The unique index of each table gives the order, in which a cohort stands where its first job does; ids break ties
-- among rows that agree in stream and version, so nothing larger than such a tie is ever sorted. Asked for in each table
-- by itself, the tenant would be in the way of that.
SELECT tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes, id, is_cohort,
    last_stream_id, stream_ids
FROM (
    SELECT tenant_id, stream_type, stream_id, version, event_type, occurred_at, event_hash, event_bytes, id,
        false AS is_cohort, NULL::uuid AS last_stream_id, NULL::bytea AS stream_ids
    FROM events
    UNION ALL
    SELECT tenant_id, 'Job', first_stream_id, version, event_type, occurred_at, event_hashes, event_lines, id, true,
        last_stream_id, stream_ids
    FROM cohort_events
) AS log_rows
WHERE $1::uuid IS NULL OR tenant_id = $1
ORDER BY stream_id, version, id
