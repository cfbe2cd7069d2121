-- Due jobs of one lane (tenant and queue), by priority then due time, with the ENQUEUED event that
-- holds their payload. The caller merges lanes: inside its transaction nobody else writes, so there
-- is nothing to lock or skip. One priority at a time, so that jobs due in the future are never
-- walked over.
SELECT ?3 AS now, e.event_bytes, q.job_id, q.tenant_id, q.created_at, q.scheduled_at, q.version, q.max_attempts, q.attempts,
    q.priority, q.job_type, q.queue, q.head_hash
FROM (
SELECT * FROM (
    SELECT job_id, tenant_id, created_at, scheduled_at, version, max_attempts, attempts, priority, job_type, queue, head_hash
    FROM job_queue WHERE NOT running AND tenant_id = ?1 AND queue = ?2 AND priority = 0
        AND scheduled_at <= ?3 AND job_type IN (SELECT value FROM json_each(?5))
    ORDER BY scheduled_at LIMIT ?4
)
UNION ALL
SELECT * FROM (
    SELECT job_id, tenant_id, created_at, scheduled_at, version, max_attempts, attempts, priority, job_type, queue, head_hash
    FROM job_queue WHERE NOT running AND tenant_id = ?1 AND queue = ?2 AND priority = 1
        AND scheduled_at <= ?3 AND job_type IN (SELECT value FROM json_each(?5))
    ORDER BY scheduled_at LIMIT ?4
)
UNION ALL
SELECT * FROM (
    SELECT job_id, tenant_id, created_at, scheduled_at, version, max_attempts, attempts, priority, job_type, queue, head_hash
    FROM job_queue WHERE NOT running AND tenant_id = ?1 AND queue = ?2 AND priority = 2
        AND scheduled_at <= ?3 AND job_type IN (SELECT value FROM json_each(?5))
    ORDER BY scheduled_at LIMIT ?4
)
UNION ALL
SELECT * FROM (
    SELECT job_id, tenant_id, created_at, scheduled_at, version, max_attempts, attempts, priority, job_type, queue, head_hash
    FROM job_queue WHERE NOT running AND tenant_id = ?1 AND queue = ?2 AND priority = 3
        AND scheduled_at <= ?3 AND job_type IN (SELECT value FROM json_each(?5))
    ORDER BY scheduled_at LIMIT ?4
)
LIMIT ?4
) AS q
CROSS JOIN events e ON e.stream_id = q.job_id AND e.version = 1
