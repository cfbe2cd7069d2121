-- A tile that has grown begins with what it was.
INSERT INTO tiles (level, tile_index, hashes)
SELECT unnest($1::int2[]), unnest($2::int8[]), unnest($3::bytea[])
ON CONFLICT (level, tile_index) DO UPDATE SET hashes = excluded.hashes
