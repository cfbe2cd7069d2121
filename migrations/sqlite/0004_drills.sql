-- View of the drill pack: one row per stream that DRILL_EMIT has written to.
CREATE TABLE drill_streams (
    stream_id   BLOB NOT NULL PRIMARY KEY,
    tenant_id   BLOB NOT NULL,
    events      INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    last_job_id BLOB NOT NULL
) WITHOUT ROWID;
