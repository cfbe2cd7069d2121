-- A cohort: up to 64 jobs that were enqueued together and are alike but for what each carries. As long as the same
-- happens to all of them, it is written once for all of them: one row for their events of a version, one for where they
-- wait or run, one for those that have succeeded. To which something happens alone, that leaves its cohort and has rows
-- of its own from then on.

-- An id is a place for 64 events: a row of one event takes the first of them, a cohort one for each job.
ALTER TABLE events ALTER COLUMN id SET INCREMENT BY 64;
DO $$
BEGIN
    EXECUTE format('ALTER TABLE events ALTER COLUMN id RESTART WITH %s',
        (SELECT (last_value / 64 + 1) * 64 FROM events_id_seq));
END $$;

-- Events of one version of the jobs of a cohort, or of some of them. The jobs come in the order of their ids, which share
-- their first 48 bits (the millisecond they were made in): so a job's events are found from its id. The bytes are the record,
-- as in events; every other column is a copy that verify compares.
CREATE TABLE cohort_events (
    id              BIGINT PRIMARY KEY DEFAULT nextval('events_id_seq'),
    occurred_at     BIGINT NOT NULL,
    version         INTEGER NOT NULL,
    tenant_id       UUID NOT NULL,
    first_stream_id UUID NOT NULL,
    last_stream_id  UUID NOT NULL,
    event_type      TEXT NOT NULL,
    -- 16 bytes each.
    stream_ids      BYTEA NOT NULL,
    -- 32 bytes each.
    event_hashes    BYTEA NOT NULL,
    -- The canonical bytes of each, which hold no line feed, with line feeds between them.
    event_lines     BYTEA NOT NULL,
    CONSTRAINT cohort_events_stream_version UNIQUE (first_stream_id, version)
) WITH (toast_tuple_target = 4080);
-- Ids and hashes cannot be compressed, so nobody should try; what alike jobs go through can, by a compressor that is
-- in a hurry, where the server has it.
ALTER TABLE cohort_events ALTER stream_ids SET STORAGE EXTERNAL, ALTER event_hashes SET STORAGE EXTERNAL;
DO $$
BEGIN
    ALTER TABLE cohort_events ALTER event_lines SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL;
END $$;

CREATE TRIGGER cohort_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON cohort_events
    FOR EACH STATEMENT EXECUTE FUNCTION events_are_append_only();

-- The first event of a job that was enqueued in a cohort; null if it was not.
CREATE FUNCTION enqueued_in_cohort(job UUID) RETURNS BYTEA LANGUAGE sql STABLE AS $$
    SELECT convert_to(split_part(convert_from(c.event_lines, 'UTF8'), E'\n', place.number), 'UTF8')
    FROM cohort_events c
    JOIN LATERAL generate_series(1, length(c.stream_ids) / 16) AS place(number)
        ON substr(c.stream_ids, 16 * place.number - 15, 16) = uuid_send(job)
    WHERE c.version = 1 AND c.last_stream_id >= job
        AND c.first_stream_id BETWEEN (substr(job::text, 1, 13) || '-0000-0000-000000000000')::uuid AND job
    ORDER BY c.first_stream_id DESC LIMIT 1
$$;

-- Programs of before know nothing of cohorts and would take the ids of their events for such as were rolled back. Their sealers
-- do not find this column, and seal nothing.
ALTER TABLE seal_gaps RENAME COLUMN holders TO writers;

-- Every event of the log, one a row, for people and their tools.
CREATE VIEW log_events AS
    SELECT id, occurred_at, version, tenant_id, stream_id, stream_type, event_type, event_hash, event_bytes FROM events
    UNION ALL
    SELECT c.id + line.number - 1, c.occurred_at, c.version, c.tenant_id,
        encode(substr(c.stream_ids, (16 * line.number - 15)::int, 16), 'hex')::uuid, 'Job', c.event_type,
        substr(c.event_hashes, (32 * line.number - 31)::int, 32), convert_to(line.text, 'UTF8')
    FROM cohort_events c
    CROSS JOIN LATERAL unnest(string_to_array(convert_from(c.event_lines, 'UTF8'), E'\n')) WITH ORDINALITY AS line(text, number);

-- Live jobs of cohorts: those that wait, as they were enqueued, and those that run under their first lease. A cohort may
-- have several pieces. Which of its jobs are meant, counted by their place in its first events, the bits of `members` say.
CREATE TABLE queue_cohorts (
    piece_id         UUID PRIMARY KEY,
    cohort_id        UUID NOT NULL,
    tenant_id        UUID NOT NULL,
    created_at       BIGINT NOT NULL,
    scheduled_at     BIGINT NOT NULL,
    lease_expires_at BIGINT,
    members          BIGINT NOT NULL,
    max_attempts     INTEGER NOT NULL,
    priority         SMALLINT NOT NULL,
    job_type         TEXT NOT NULL,
    queue            TEXT NOT NULL,
    worker_id        TEXT
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX queue_cohorts_by_cohort ON queue_cohorts (cohort_id);
-- What waits, in the order in which it is leased.
CREATE INDEX queue_cohorts_order ON queue_cohorts (tenant_id, queue, priority, scheduled_at, cohort_id) WHERE worker_id IS NULL;
-- What runs, by when its lease ends.
CREATE INDEX queue_cohorts_leases ON queue_cohorts (lease_expires_at) WHERE worker_id IS NOT NULL;

-- Jobs of cohorts that succeeded at their first attempt, together.
CREATE TABLE finished_cohorts (
    created_at   BIGINT NOT NULL,
    scheduled_at BIGINT NOT NULL,
    finished_at  BIGINT NOT NULL,
    members      BIGINT NOT NULL,
    tenant_id    UUID NOT NULL,
    cohort_id    UUID NOT NULL,
    max_attempts INTEGER NOT NULL,
    priority     SMALLINT NOT NULL,
    job_type     TEXT NOT NULL,
    queue        TEXT NOT NULL,
    PRIMARY KEY (cohort_id, members)
);
CREATE INDEX finished_cohorts_by_tenant ON finished_cohorts (tenant_id, created_at);

-- All live jobs, one a row.
CREATE VIEW live_jobs AS
    SELECT job_id, tenant_id, created_at, scheduled_at, lease_expires_at, progressed_at, version, fence, max_attempts,
        attempts, priority, progress_percent, running, cancel_requested, job_type, queue, head_hash, worker_id, error_code,
        error_message
    FROM job_queue
    UNION ALL
    SELECT encode(substr(first.stream_ids, 16 * place.number + 1, 16), 'hex')::uuid, piece.tenant_id, piece.created_at,
        piece.scheduled_at, piece.lease_expires_at, NULL, CASE WHEN piece.worker_id IS NULL THEN 1 ELSE 2 END,
        CASE WHEN piece.worker_id IS NOT NULL THEN 2 END, piece.max_attempts, CASE WHEN piece.worker_id IS NULL THEN 0 ELSE 1 END,
        piece.priority, NULL, piece.worker_id IS NOT NULL, false, piece.job_type, piece.queue, NULL, piece.worker_id, NULL, NULL
    FROM queue_cohorts piece
    JOIN cohort_events first ON first.first_stream_id = piece.cohort_id AND first.version = 1
    CROSS JOIN generate_series(0, 63) AS place(number)
    WHERE (piece.members >> place.number) & 1 = 1 AND place.number < length(first.stream_ids) / 16;

-- All jobs that have ended, one a row.
CREATE VIEW ended_jobs AS
    SELECT created_at, scheduled_at, finished_at, tenant_id, job_id, version, attempts, max_attempts, priority, resolved,
        status, job_type, queue, error_code, error_message
    FROM finished_jobs
    UNION ALL
    SELECT piece.created_at, piece.scheduled_at, piece.finished_at, piece.tenant_id,
        encode(substr(first.stream_ids, 16 * place.number + 1, 16), 'hex')::uuid, 3, 1, piece.max_attempts, piece.priority,
        false, 'SUCCEEDED', piece.job_type, piece.queue, NULL, NULL
    FROM finished_cohorts piece
    JOIN cohort_events first ON first.first_stream_id = piece.cohort_id AND first.version = 1
    CROSS JOIN generate_series(0, 63) AS place(number)
    WHERE (piece.members >> place.number) & 1 = 1 AND place.number < length(first.stream_ids) / 16;
