-- When leases end: one row for all jobs of one lease or one renewal. The queue itself has no index on
-- that, nor on who is running, so that leasing a job changes no index at all; the way from a time to the
-- jobs whose lease ends then leads through here. A row may name jobs that are finished or leased anew.
CREATE TABLE leases (
    lease_id         BLOB NOT NULL PRIMARY KEY,
    lease_expires_at INTEGER NOT NULL,
    job_ids          BLOB NOT NULL
) WITHOUT ROWID;

INSERT INTO leases (lease_id, lease_expires_at, job_ids)
SELECT randomblob(16), lease_expires_at, job_id FROM job_queue WHERE running AND lease_expires_at IS NOT NULL;

DROP INDEX job_queue_leases;
DROP INDEX job_queue_leasable;
-- The order in which jobs are leased. Rows that run stay in it until they are finished.
CREATE INDEX job_queue_order ON job_queue (tenant_id, queue, priority, scheduled_at);
