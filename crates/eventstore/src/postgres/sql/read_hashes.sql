SELECT stream_id, version, event_hash
FROM unnest($1::uuid[], $2::int4[]) AS wanted(stream_id, version) JOIN events USING (stream_id, version)
