-- Rows, from the tables themselves: verify forbids the indexes before it asks.
SELECT (SELECT count(*) FROM events WHERE $1::uuid IS NULL OR tenant_id = $1)
    + (SELECT count(*) FROM cohort_events WHERE $1::uuid IS NULL OR tenant_id = $1)
