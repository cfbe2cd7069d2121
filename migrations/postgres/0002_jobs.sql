-- Views of the jobs: everything here can be thrown away and rebuilt from the log.

-- Live jobs. A row carries the whole state of its job. It is deleted when the job is finished, so
-- the table stays as small as the work at hand; room in the pages keeps updates close.
CREATE TABLE job_queue (
    job_id           UUID PRIMARY KEY,
    tenant_id        UUID NOT NULL,
    created_at       BIGINT NOT NULL,
    scheduled_at     BIGINT NOT NULL,
    lease_expires_at BIGINT,
    progressed_at    BIGINT,
    version          INTEGER NOT NULL,
    fence            INTEGER,
    max_attempts     INTEGER NOT NULL,
    attempts         INTEGER NOT NULL,
    priority         SMALLINT NOT NULL,
    progress_percent SMALLINT,
    running          BOOLEAN NOT NULL,
    cancel_requested BOOLEAN NOT NULL,
    job_type         TEXT NOT NULL,
    queue            TEXT NOT NULL,
    head_hash        BYTEA,
    worker_id        TEXT,
    error_code       TEXT,
    error_message    TEXT
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Only rows that a worker may lease, in the order it leases them.
CREATE INDEX job_queue_leasable ON job_queue (tenant_id, queue, priority, scheduled_at) WHERE NOT running;
-- Only rows that the reaper may have to take.
CREATE INDEX job_queue_leases ON job_queue (lease_expires_at) WHERE running;

-- Jobs that have ended. The key is also the order of the job list.
CREATE TABLE finished_jobs (
    created_at    BIGINT NOT NULL,
    scheduled_at  BIGINT NOT NULL,
    finished_at   BIGINT NOT NULL,
    tenant_id     UUID NOT NULL,
    job_id        UUID NOT NULL,
    version       INTEGER NOT NULL,
    attempts      INTEGER NOT NULL,
    max_attempts  INTEGER NOT NULL,
    priority      SMALLINT NOT NULL,
    resolved      BOOLEAN NOT NULL,
    status        TEXT NOT NULL,
    job_type      TEXT NOT NULL,
    queue         TEXT NOT NULL,
    error_code    TEXT,
    error_message TEXT,
    PRIMARY KEY (tenant_id, created_at, job_id)
);

-- The dead letters are few among many.
CREATE INDEX finished_jobs_dead ON finished_jobs (tenant_id, created_at) WHERE status IN ('DEAD_LETTER', 'FAILED');

CREATE VIEW dead_letters AS
    SELECT tenant_id, job_id, job_type, queue, attempts, error_code, error_message, created_at, finished_at
    FROM finished_jobs WHERE status = 'DEAD_LETTER';
