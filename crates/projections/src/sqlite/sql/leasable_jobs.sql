-- Due jobs of one lane (tenant and queue), by priority then due time, with the ENQUEUED event that says
-- the rest of them: each column of a row is copied on its way through the driver. The caller merges lanes:
-- inside its transaction nobody else writes, so there is nothing to lock or skip. One priority at a time, so
-- that jobs due in the future are never walked over, and from where the caller got to before (?6 to ?9), so
-- that those running are not either.
SELECT e.event_bytes, q.job_id, q.version, q.head_hash, q.attempts, q.scheduled_at
FROM (
SELECT * FROM (
    SELECT job_id, version, head_hash, attempts, scheduled_at
    FROM job_queue WHERE NOT running AND tenant_id = ?1 AND queue = ?2 AND priority = 0
        AND scheduled_at BETWEEN ?6 AND ?3 AND job_type IN (SELECT value FROM json_each(?5))
    ORDER BY scheduled_at LIMIT ?4
)
UNION ALL
SELECT * FROM (
    SELECT job_id, version, head_hash, attempts, scheduled_at
    FROM job_queue WHERE NOT running AND tenant_id = ?1 AND queue = ?2 AND priority = 1
        AND scheduled_at BETWEEN ?7 AND ?3 AND job_type IN (SELECT value FROM json_each(?5))
    ORDER BY scheduled_at LIMIT ?4
)
UNION ALL
SELECT * FROM (
    SELECT job_id, version, head_hash, attempts, scheduled_at
    FROM job_queue WHERE NOT running AND tenant_id = ?1 AND queue = ?2 AND priority = 2
        AND scheduled_at BETWEEN ?8 AND ?3 AND job_type IN (SELECT value FROM json_each(?5))
    ORDER BY scheduled_at LIMIT ?4
)
UNION ALL
SELECT * FROM (
    SELECT job_id, version, head_hash, attempts, scheduled_at
    FROM job_queue WHERE NOT running AND tenant_id = ?1 AND queue = ?2 AND priority = 3
        AND scheduled_at BETWEEN ?9 AND ?3 AND job_type IN (SELECT value FROM json_each(?5))
    ORDER BY scheduled_at LIMIT ?4
)
LIMIT ?4
) AS q
CROSS JOIN events e ON e.stream_id = q.job_id AND e.version = 1
