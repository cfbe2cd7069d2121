-- Those that stay in pieces that others leave. Not a join: see update_queue_rows.sql.
UPDATE queue_cohorts SET members = ($2::int8[])[array_position($1::uuid[], piece_id)] WHERE piece_id = ANY($1::uuid[])
