-- Every tenant and queue with a job waiting, by hopping from one to the next in the index instead of
-- walking all waiting jobs; and when the first of it is due.
WITH RECURSIVE lane(tenant_id, queue) AS (
    SELECT * FROM (SELECT tenant_id, queue FROM job_queue WHERE NOT running ORDER BY tenant_id, queue LIMIT 1)
    UNION ALL
    SELECT
        (SELECT q.tenant_id FROM job_queue q WHERE NOT q.running AND (q.tenant_id, q.queue) > (lane.tenant_id, lane.queue)
            ORDER BY q.tenant_id, q.queue LIMIT 1),
        (SELECT q.queue FROM job_queue q WHERE NOT q.running AND (q.tenant_id, q.queue) > (lane.tenant_id, lane.queue)
            ORDER BY q.tenant_id, q.queue LIMIT 1)
    FROM lane WHERE lane.tenant_id IS NOT NULL
)
SELECT ?1 AS now, lane.tenant_id, lane.queue, (
    SELECT min(first) FROM (
        SELECT (
            SELECT q.scheduled_at FROM job_queue q
            WHERE NOT q.running AND q.tenant_id = lane.tenant_id AND q.queue = lane.queue AND q.priority = level.value
            ORDER BY q.scheduled_at LIMIT 1
        ) AS first
        FROM json_each('[0,1,2,3]') AS level
    )
) AS due_at
FROM lane WHERE lane.tenant_id IS NOT NULL
