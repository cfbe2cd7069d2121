-- The sealed order of the log and the Merkle tree over it. Nothing here is the record: order, tiles and
-- roots are checked against the events and against signatures by verify.

-- How far the log is sealed. One row, which whoever seals looks at again before they write.
CREATE TABLE log_state (
    only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
    size     INTEGER NOT NULL,
    root     BLOB NOT NULL
);
INSERT INTO log_state (only_row, size, root)
VALUES (1, 0, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');

-- C2SP tiles: up to 256 hashes of 32 bytes. The last tile of each level grows, the others stay as they are.
CREATE TABLE tiles (
    level      INTEGER NOT NULL,
    tile_index INTEGER NOT NULL,
    hashes     BLOB NOT NULL,
    PRIMARY KEY (level, tile_index)
);

-- Which events the leaves of a tile of level 0 stand for: their ids, 8 bytes each, big-endian. first_id is
-- one more than the highest id sealed before, so an id that came in its turn is found by a search.
CREATE TABLE log_order (
    tile_index INTEGER NOT NULL PRIMARY KEY,
    first_id   INTEGER NOT NULL,
    event_ids  BLOB NOT NULL
);
CREATE INDEX log_order_first_id ON log_order (first_id);

-- Events that were sealed after a higher id. Writers wait for each other here, so there are none but around
-- the opening of a new origin; and no gaps to remember, as PostgreSQL has them.
CREATE TABLE late_events (
    event_id INTEGER NOT NULL PRIMARY KEY,
    position INTEGER NOT NULL
);

-- Signed notes over size and root: the newest, of this hour the last of each minute, and the last of each
-- hour before.
CREATE TABLE checkpoints (
    size    INTEGER NOT NULL PRIMARY KEY,
    note    TEXT NOT NULL,
    made_at INTEGER NOT NULL
);
