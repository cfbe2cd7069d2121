-- Pieces whose lease has ended, with the ids of their cohort's jobs; those that somebody else has locked come later.
SELECT piece_id, cohort_id, tenant_id, created_at, scheduled_at, members, max_attempts, priority, job_type, queue, worker_id,
    lease_expires_at,
    (SELECT e.stream_ids FROM cohort_events e WHERE e.first_stream_id = piece.cohort_id AND e.version = 1)
FROM queue_cohorts piece
WHERE worker_id IS NOT NULL AND lease_expires_at <= $1
ORDER BY lease_expires_at LIMIT $2
FOR UPDATE SKIP LOCKED
