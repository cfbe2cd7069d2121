-- The sealed order of the log and the Merkle tree over it. Nothing here is the record: order, tiles and
-- roots are checked against the events and against signatures by verify.

-- How far the log is sealed. One row, which whoever seals locks first.
CREATE TABLE log_state (
    only_row SMALLINT PRIMARY KEY CHECK (only_row = 1),
    size     BIGINT NOT NULL,
    root     BYTEA NOT NULL
);
INSERT INTO log_state (only_row, size, root) VALUES (1, 0, sha256(''));

-- C2SP tiles: up to 256 hashes of 32 bytes. The last tile of each level grows, the others stay as they are.
CREATE TABLE tiles (
    level      SMALLINT NOT NULL,
    tile_index BIGINT NOT NULL,
    hashes     BYTEA NOT NULL,
    PRIMARY KEY (level, tile_index)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 5000);
-- Hashes cannot be compressed, so nobody should try.
ALTER TABLE tiles ALTER hashes SET STORAGE EXTERNAL;

-- Which events the leaves of a tile of level 0 stand for: their ids, 8 bytes each, big-endian. first_id is
-- one more than the highest id sealed before, so an id that came in its turn is found by a search.
CREATE TABLE log_order (
    tile_index BIGINT PRIMARY KEY,
    first_id   BIGINT NOT NULL,
    event_ids  BYTEA NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX log_order_first_id ON log_order (first_id);
-- Three rows fit in a page; out of line they would take two reads.
ALTER TABLE log_order ALTER event_ids SET STORAGE PLAIN;

-- Events that became visible only after a higher id was sealed.
CREATE TABLE late_events (
    event_id BIGINT PRIMARY KEY,
    position BIGINT NOT NULL
);

-- Ids below the highest sealed one that belonged to nothing visible, and who was writing to the log then:
-- until the last of those has ended, an event may still appear there.
CREATE TABLE seal_gaps (
    generation BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    is_fresh   BOOLEAN NOT NULL,
    holders    TEXT[] NOT NULL,
    first_ids  BIGINT[] NOT NULL,
    last_ids   BIGINT[] NOT NULL
);

-- Signed notes over size and root: the newest, of this hour the last of each minute, and the last of each
-- hour before.
CREATE TABLE checkpoints (
    size    BIGINT PRIMARY KEY,
    note    TEXT NOT NULL,
    made_at BIGINT NOT NULL
);
