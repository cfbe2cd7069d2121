-- From the table itself: verify forbids the indexes before it asks.
SELECT count(*) FROM events WHERE $1::uuid IS NULL OR tenant_id = $1
