-- From the table itself, whatever its indexes say.
SELECT count(*) FROM events NOT INDEXED WHERE $1 IS NULL OR tenant_id = $1
