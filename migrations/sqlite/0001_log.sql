-- The log. Append only: the canonical bytes and the hash are the record, every other column is a
-- copy for queries, and verify compares it with the bytes.
CREATE TABLE events (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    occurred_at INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    tenant_id   BLOB NOT NULL,
    stream_id   BLOB NOT NULL,
    stream_type TEXT NOT NULL,
    event_type  TEXT NOT NULL,
    event_hash  BLOB NOT NULL,
    event_bytes BLOB NOT NULL,
    UNIQUE (stream_id, version)
);

-- A guard rail against careless statements; whoever holds the file can lift it, and verify is for them.
CREATE TRIGGER events_refuse_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'the event log is append only: UPDATE is refused'); END;
CREATE TRIGGER events_refuse_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'the event log is append only: DELETE is refused'); END;

-- View of TENANT_ADDED.
CREATE TABLE tenants (
    tenant_id  BLOB NOT NULL PRIMARY KEY,
    slug       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- View of LOG_KEY_ADDED.
CREATE TABLE log_keys (
    public_key TEXT NOT NULL PRIMARY KEY,
    origin     TEXT NOT NULL,
    added_at   INTEGER NOT NULL
) WITHOUT ROWID;
