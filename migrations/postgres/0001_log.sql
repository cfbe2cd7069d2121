-- The log. Append only: the canonical bytes and the hash are the record, every other column is a
-- copy for queries, and verify compares it with the bytes.
CREATE TABLE events (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    occurred_at BIGINT NOT NULL,
    version     INTEGER NOT NULL,
    tenant_id   UUID NOT NULL,
    stream_id   UUID NOT NULL,
    stream_type TEXT NOT NULL,
    event_type  TEXT NOT NULL,
    event_hash  BYTEA NOT NULL,
    event_bytes BYTEA NOT NULL,
    CONSTRAINT events_stream_version UNIQUE (stream_id, version)
);

-- A guard rail against careless statements, not against a superuser: that is what verify is for.
CREATE FUNCTION events_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the event log is append only: % is refused', TG_OP
        USING ERRCODE = 'restrict_violation', HINT = 'Append a new event instead.';
END $$;

CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION events_are_append_only();

-- View of TENANT_ADDED.
CREATE TABLE tenants (
    tenant_id  UUID PRIMARY KEY,
    slug       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- View of LOG_KEY_ADDED.
CREATE TABLE log_keys (
    public_key TEXT PRIMARY KEY,
    origin     TEXT NOT NULL,
    added_at   BIGINT NOT NULL
);
