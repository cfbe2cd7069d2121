-- Every tenant and queue with a job waiting, by hopping from one to the next in the index instead of
-- walking all jobs; and when the first of it is due.
WITH RECURSIVE lane AS (
    (SELECT tenant_id, queue FROM job_queue ORDER BY tenant_id, queue LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, next.queue
    FROM lane, LATERAL (
        SELECT q.tenant_id, q.queue FROM job_queue q
        WHERE (q.tenant_id, q.queue) > (lane.tenant_id, lane.queue)
        ORDER BY q.tenant_id, q.queue LIMIT 1
    ) AS next
)
SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now, lane.tenant_id, lane.queue, due.at
FROM lane, LATERAL (
    SELECT min(first.scheduled_at) AS at
    FROM generate_series(0, 3) AS level(priority),
    LATERAL (
        SELECT q.scheduled_at FROM job_queue q
        WHERE NOT q.running AND q.tenant_id = lane.tenant_id AND q.queue = lane.queue AND q.priority = level.priority
        ORDER BY q.scheduled_at LIMIT 1
    ) AS first
) AS due
WHERE due.at IS NOT NULL
