-- View of the drill pack: one row per stream that DRILL_EMIT has written to.
CREATE TABLE drill_streams (
    stream_id   UUID PRIMARY KEY,
    tenant_id   UUID NOT NULL,
    events      BIGINT NOT NULL,
    last_number BIGINT NOT NULL,
    last_job_id UUID NOT NULL
);
