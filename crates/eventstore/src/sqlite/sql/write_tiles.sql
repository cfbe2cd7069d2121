-- A tile that has grown begins with what it was.
INSERT INTO tiles (level, tile_index, hashes) VALUES (?, ?, ?)
ON CONFLICT (level, tile_index) DO UPDATE SET hashes = excluded.hashes
