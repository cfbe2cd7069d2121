-- Pieces of cohorts that are due in some lanes (parameters as in due_jobs.sql), locked, with the events that say what their
-- jobs carry; and how many jobs with rows of their own come among the first $5 of all. Nothing of those is looked at unless a
-- cohort is due.
--
-- As in due_jobs.sql, how many pieces of each lane and priority belong to the first $5 is found without locks, then just so
-- many are locked, each worker skipping what others hold. Of the last piece only some jobs may be wanted. Pieces of four jobs
-- and more, as new ones are, fill a lease; where they are smaller, it is smaller.
WITH clock AS MATERIALIZED (
    SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now
), lane AS MATERIALIZED (
    SELECT lane.number, lane.tenant_id, lane.queue, LEAST(lane.room, $5) AS room, level.priority,
        CASE WHEN cardinality($2::uuid[]) = 1 THEN ($7::int8[])[level.priority + 1] ELSE 0 END AS since
    FROM unnest($2::uuid[], $3::text[], $4::int4[]) WITH ORDINALITY AS lane(tenant_id, queue, room, number),
        generate_series(0, 3) AS level(priority)
), piece AS MATERIALIZED (
    SELECT lane.number, lane.room, lane.priority, due.scheduled_at, due.jobs
    FROM clock, lane, LATERAL (
        SELECT c.scheduled_at, bit_count(c.members::bit(64)) AS jobs
        FROM queue_cohorts c
        WHERE c.worker_id IS NULL AND c.tenant_id = lane.tenant_id AND c.queue = lane.queue AND c.priority = lane.priority
            AND c.scheduled_at >= lane.since AND c.scheduled_at <= clock.now AND c.job_type = ANY ($6::text[])
        ORDER BY c.scheduled_at, c.cohort_id LIMIT lane.room / 4 + 4
    ) AS due
), single AS MATERIALIZED (
    SELECT lane.number, lane.room, lane.priority, due.scheduled_at, 1::bigint AS jobs
    FROM clock, lane, LATERAL (
        SELECT q.scheduled_at FROM job_queue q
        WHERE NOT q.running AND q.tenant_id = lane.tenant_id AND q.queue = lane.queue AND q.priority = lane.priority
            AND q.scheduled_at >= lane.since AND q.scheduled_at <= clock.now AND q.job_type = ANY ($6::text[])
        ORDER BY q.scheduled_at LIMIT lane.room
    ) AS due
    WHERE EXISTS (SELECT 1 FROM piece)
), of_lane AS (
    SELECT *, sum(jobs) OVER (PARTITION BY number ORDER BY priority, scheduled_at, is_single DESC ROWS UNBOUNDED PRECEDING) - jobs
        AS before
    FROM (SELECT *, false AS is_single FROM piece UNION ALL SELECT *, true FROM single) AS due
), of_all AS (
    SELECT *, sum(taken) OVER (ORDER BY priority, scheduled_at, is_single DESC ROWS UNBOUNDED PRECEDING) - taken AS ahead
    FROM (SELECT *, LEAST(jobs, room - before) AS taken FROM of_lane WHERE before < room) AS due
), first AS MATERIALIZED (
    SELECT number, priority, is_single, count(*) AS rows FROM of_all WHERE ahead < $5 GROUP BY number, priority, is_single
), taken AS (
    SELECT locked.* FROM clock, first JOIN lane USING (number, priority), LATERAL (
        SELECT c.piece_id, c.cohort_id, c.tenant_id, c.created_at, c.scheduled_at, c.members, c.max_attempts, c.priority,
            c.job_type, c.queue
        FROM queue_cohorts c
        WHERE c.worker_id IS NULL AND c.tenant_id = lane.tenant_id AND c.queue = lane.queue AND c.priority = lane.priority
            AND c.scheduled_at >= lane.since AND c.scheduled_at <= clock.now AND c.job_type = ANY ($6::text[])
        ORDER BY c.scheduled_at, c.cohort_id LIMIT first.rows
        FOR UPDATE SKIP LOCKED
    ) AS locked
    WHERE NOT first.is_single
), with_events AS (
    SELECT taken.*, enqueued.stream_ids, enqueued.event_lines
    FROM taken JOIN cohort_events enqueued ON enqueued.first_stream_id = taken.cohort_id AND enqueued.version = 1
    ORDER BY taken.priority, taken.scheduled_at, taken.cohort_id
)
SELECT (SELECT now FROM clock), (SELECT COALESCE(sum(rows), 0)::int8 FROM first WHERE is_single),
    EXISTS (SELECT 1 FROM first WHERE NOT is_single),
    array_agg(piece_id), array_agg(cohort_id), array_agg(tenant_id), array_agg(created_at), array_agg(scheduled_at),
    array_agg(members), array_agg(max_attempts), array_agg(priority), array_agg(job_type), array_agg(queue),
    array_agg(stream_ids), array_agg(event_lines)
FROM with_events
