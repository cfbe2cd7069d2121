-- Every event that is not sealed. Writers wait for each other, so ids appear in their order and there are
-- no gaps to look into.
SELECT id, stream_type, stream_id, version, event_hash FROM events WHERE id > $1 ORDER BY id LIMIT $2
