-- Every tenant and queue with a job waiting, by hopping from one to the next in the index instead of
-- walking all jobs; and when the first of it is due. A comparison of two columns at once would be looked up
-- by the first alone (measured: 0.2 s with 100,000 jobs in one lane), so the next queue of the same tenant and
-- the next tenant are asked for apart.
WITH RECURSIVE lane(tenant_id, queue) AS (
    SELECT * FROM (SELECT tenant_id, queue FROM job_queue ORDER BY tenant_id, queue LIMIT 1)
    UNION ALL
    SELECT
        CASE
            WHEN EXISTS (SELECT 1 FROM job_queue q WHERE q.tenant_id = lane.tenant_id AND q.queue > lane.queue)
            THEN lane.tenant_id
            ELSE (SELECT min(q.tenant_id) FROM job_queue q WHERE q.tenant_id > lane.tenant_id)
        END,
        COALESCE(
            (SELECT min(q.queue) FROM job_queue q WHERE q.tenant_id = lane.tenant_id AND q.queue > lane.queue),
            (SELECT q.queue FROM job_queue q WHERE q.tenant_id > lane.tenant_id ORDER BY q.tenant_id, q.queue LIMIT 1)
        )
    FROM lane WHERE lane.tenant_id IS NOT NULL
), due(tenant_id, queue, at) AS (
    SELECT lane.tenant_id, lane.queue, (
        SELECT min(first) FROM (
            SELECT (
                SELECT q.scheduled_at FROM job_queue q
                WHERE NOT q.running AND q.tenant_id = lane.tenant_id AND q.queue = lane.queue
                    AND q.priority = level.value
                ORDER BY q.scheduled_at LIMIT 1
            ) AS first
            FROM json_each('[0,1,2,3]') AS level
        )
    )
    FROM lane WHERE lane.tenant_id IS NOT NULL
)
SELECT ?1 AS now, tenant_id, queue, at FROM due WHERE at IS NOT NULL
