-- A row that has grown begins with what it was.
INSERT INTO log_order (tile_index, first_id, event_ids) VALUES (?, ?, ?)
ON CONFLICT (tile_index) DO UPDATE SET event_ids = excluded.event_ids
