-- Due jobs of some lanes (tenant and queue, with room for so many), by priority then due time, locked: the
-- beginning of what leasable_jobs.sql or take_jobs.sql goes on with and found_jobs.sql ends.
--
-- A lane is read one priority at a time, so that jobs due in the future are never walked over, and from
-- where the caller got to before ($7), so that those running are not either.
--
-- How many of each lane belong to the first $5 of all is found without locks; then just so many are
-- locked, each worker skipping what others hold. Locking more than are wanted would write to the
-- rows of jobs that stay where they are. A single lane needs no counting: its rows come in order, and
-- the last LIMIT stops the locking (measured: 20 us a job with the count, 14 without).
--
-- Rows are found by index, and from then on by place (measured: 15 us a lease instead of 21).
--
-- If $8, nothing is found while jobs of cohorts are due as well: which of them come first is told by due_pieces.sql.
WITH clock AS MATERIALIZED (
    SELECT COALESCE($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now
), cohort AS MATERIALIZED (
    SELECT EXISTS (
        SELECT 1
        FROM clock, unnest($2::uuid[], $3::text[]) AS lane(tenant_id, queue), generate_series(0, 3) AS level(priority),
        LATERAL (
            SELECT 1 FROM queue_cohorts c
            WHERE c.worker_id IS NULL AND c.tenant_id = lane.tenant_id AND c.queue = lane.queue
                AND c.priority = level.priority AND c.scheduled_at <= clock.now AND c.job_type = ANY ($6::text[])
                AND c.scheduled_at >= CASE WHEN cardinality($2::uuid[]) = 1 THEN ($7::int8[])[level.priority + 1] ELSE 0 END
            LIMIT 1
        ) AS due
        WHERE $8
    ) AS is_due
), wanted AS MATERIALIZED (
    SELECT tenant_id, queue, priority, count(*) AS jobs, 0::int8 AS since
    FROM (
        SELECT lane.tenant_id, lane.queue, due.priority, due.scheduled_at
        FROM clock, unnest($2::uuid[], $3::text[], $4::int4[]) AS lane(tenant_id, queue, room),
        LATERAL (
            SELECT level.priority, ready.scheduled_at
            FROM generate_series(0, 3) AS level(priority),
            LATERAL (
                SELECT q.scheduled_at FROM job_queue q
                WHERE NOT q.running AND q.tenant_id = lane.tenant_id AND q.queue = lane.queue
                    AND q.priority = level.priority AND q.scheduled_at <= clock.now AND q.job_type = ANY ($6::text[])
                ORDER BY q.scheduled_at LIMIT lane.room
            ) AS ready
            ORDER BY level.priority, ready.scheduled_at LIMIT lane.room
        ) AS due
        ORDER BY due.priority, due.scheduled_at LIMIT $5
    ) AS first
    WHERE cardinality($2::uuid[]) > 1
    GROUP BY tenant_id, queue, priority
    UNION ALL
    SELECT ($2::uuid[])[1], ($3::text[])[1], level.priority, LEAST(($4::int4[])[1], $5), ($7::int8[])[level.priority + 1]
    FROM generate_series(0, 3) AS level(priority)
    WHERE cardinality($2::uuid[]) = 1
), due AS (
    SELECT clock.now, first.*
    FROM clock, cohort, wanted,
    LATERAL (
        SELECT q.ctid AS place, q.job_id, q.version, q.head_hash, q.attempts, q.scheduled_at
        FROM job_queue q
        WHERE NOT q.running AND q.tenant_id = wanted.tenant_id AND q.queue = wanted.queue
            AND q.priority = wanted.priority AND q.scheduled_at >= wanted.since AND q.scheduled_at <= clock.now
            AND q.job_type = ANY ($6::text[])
        ORDER BY q.scheduled_at LIMIT wanted.jobs
        FOR UPDATE SKIP LOCKED
    ) AS first
    WHERE NOT cohort.is_due
    LIMIT $5
),
