-- Every tenant and queue with a job waiting, by hopping from one to the next in the index instead of
-- walking all jobs; and when the first of it is due. The same for cohorts.
WITH RECURSIVE lane AS (
    (SELECT tenant_id, queue FROM job_queue ORDER BY tenant_id, queue LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, next.queue
    FROM lane, LATERAL (
        SELECT q.tenant_id, q.queue FROM job_queue q
        WHERE (q.tenant_id, q.queue) > (lane.tenant_id, lane.queue)
        ORDER BY q.tenant_id, q.queue LIMIT 1
    ) AS next
), cohort_lane AS (
    (SELECT tenant_id, queue FROM queue_cohorts WHERE worker_id IS NULL ORDER BY tenant_id, queue LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, next.queue
    FROM cohort_lane AS lane, LATERAL (
        SELECT c.tenant_id, c.queue FROM queue_cohorts c
        WHERE c.worker_id IS NULL AND (c.tenant_id, c.queue) > (lane.tenant_id, lane.queue)
        ORDER BY c.tenant_id, c.queue LIMIT 1
    ) AS next
), due AS (
    SELECT lane.tenant_id, lane.queue, first.scheduled_at AS at
    FROM lane, generate_series(0, 3) AS level(priority),
    LATERAL (
        SELECT q.scheduled_at FROM job_queue q
        WHERE NOT q.running AND q.tenant_id = lane.tenant_id AND q.queue = lane.queue AND q.priority = level.priority
        ORDER BY q.scheduled_at LIMIT 1
    ) AS first
    UNION ALL
    SELECT lane.tenant_id, lane.queue, first.scheduled_at
    FROM cohort_lane AS lane, generate_series(0, 3) AS level(priority),
    LATERAL (
        SELECT c.scheduled_at FROM queue_cohorts c
        WHERE c.worker_id IS NULL AND c.tenant_id = lane.tenant_id AND c.queue = lane.queue AND c.priority = level.priority
        ORDER BY c.scheduled_at LIMIT 1
    ) AS first
)
SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now, tenant_id, queue, min(at)
FROM due
GROUP BY tenant_id, queue
