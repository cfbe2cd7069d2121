-- Views of the jobs: everything here can be thrown away and rebuilt from the log.

-- Live jobs. A row carries the whole state of its job. It is deleted when the job is finished, so
-- the table stays as small as the work at hand.
CREATE TABLE job_queue (
    job_id           BLOB NOT NULL PRIMARY KEY,
    tenant_id        BLOB NOT NULL,
    created_at       INTEGER NOT NULL,
    scheduled_at     INTEGER NOT NULL,
    lease_expires_at INTEGER,
    progressed_at    INTEGER,
    version          INTEGER NOT NULL,
    fence            INTEGER,
    max_attempts     INTEGER NOT NULL,
    attempts         INTEGER NOT NULL,
    priority         INTEGER NOT NULL,
    progress_percent INTEGER,
    running          BOOLEAN NOT NULL,
    cancel_requested BOOLEAN NOT NULL,
    job_type         TEXT NOT NULL,
    queue            TEXT NOT NULL,
    head_hash        BLOB,
    worker_id        TEXT,
    error_code       TEXT,
    error_message    TEXT
) WITHOUT ROWID;

-- Only rows that a worker may lease, in the order it leases them.
CREATE INDEX job_queue_leasable ON job_queue (tenant_id, queue, priority, scheduled_at) WHERE NOT running;
-- Only rows that the reaper may have to take.
CREATE INDEX job_queue_leases ON job_queue (lease_expires_at) WHERE running;

-- Jobs that have ended. The key is also the order of the job list.
CREATE TABLE finished_jobs (
    created_at    INTEGER NOT NULL,
    scheduled_at  INTEGER NOT NULL,
    finished_at   INTEGER NOT NULL,
    tenant_id     BLOB NOT NULL,
    job_id        BLOB NOT NULL,
    version       INTEGER NOT NULL,
    attempts      INTEGER NOT NULL,
    max_attempts  INTEGER NOT NULL,
    priority      INTEGER NOT NULL,
    resolved      BOOLEAN NOT NULL,
    status        TEXT NOT NULL,
    job_type      TEXT NOT NULL,
    queue         TEXT NOT NULL,
    error_code    TEXT,
    error_message TEXT,
    PRIMARY KEY (tenant_id, created_at, job_id)
) WITHOUT ROWID;

-- The dead letters are few among many.
CREATE INDEX finished_jobs_dead ON finished_jobs (tenant_id, created_at) WHERE status IN ('DEAD_LETTER', 'FAILED');

CREATE VIEW dead_letters AS
    SELECT tenant_id, job_id, job_type, queue, attempts, error_code, error_message, created_at, finished_at
    FROM finished_jobs WHERE status = 'DEAD_LETTER';
