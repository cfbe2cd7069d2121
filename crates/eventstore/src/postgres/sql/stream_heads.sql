SELECT head.stream_id, head.tenant_id, head.stream_type, head.version, head.event_hash
FROM unnest($1::uuid[]) AS wanted(stream_id),
LATERAL (
    SELECT * FROM events WHERE events.stream_id = wanted.stream_id ORDER BY version DESC LIMIT 1
) AS head
