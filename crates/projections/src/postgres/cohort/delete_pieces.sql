DELETE FROM queue_cohorts WHERE piece_id = ANY($1::uuid[])
