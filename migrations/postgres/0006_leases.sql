-- When leases end: one row for all jobs of one lease or one renewal. The queue itself has no index on
-- that, nor on who is running, so that leasing a job changes no index at all; the way from a time to the
-- jobs whose lease ends then leads through here. A row may name jobs that are finished or leased anew.
CREATE TABLE leases (
    lease_id         UUID PRIMARY KEY,
    lease_expires_at BIGINT NOT NULL,
    job_ids          BYTEA NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
-- Random bytes: trying to compress them is wasted.
ALTER TABLE leases ALTER COLUMN job_ids SET STORAGE EXTERNAL;

INSERT INTO leases (lease_id, lease_expires_at, job_ids)
SELECT gen_random_uuid(), lease_expires_at, string_agg(uuid_send(job_id), ''::bytea)
FROM job_queue WHERE running AND lease_expires_at IS NOT NULL GROUP BY lease_expires_at;

DROP INDEX job_queue_leases;
DROP INDEX job_queue_leasable;
-- The order in which jobs are leased. Rows that run stay in it until they are finished.
CREATE INDEX job_queue_order ON job_queue (tenant_id, queue, priority, scheduled_at);
-- Room for a second version of every row in the page of the first: a lease stays within its page.
ALTER TABLE job_queue SET (fillfactor = 48);
