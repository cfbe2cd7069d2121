-- Has any lease ended? Asked by every worker, so it is one statement and locks nothing. Unlike SQLite there are cohorts, and the
-- clock is the server's.
SELECT EXISTS (SELECT 1 FROM leases WHERE lease_expires_at <= clock.now)
    OR EXISTS (SELECT 1 FROM queue_cohorts WHERE worker_id IS NOT NULL AND lease_expires_at <= clock.now)
FROM (SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now OFFSET 0) AS clock
