SELECT 1 FROM finished_cohorts WHERE cohort_id = $1 AND members & $2::int8 <> 0 FOR UPDATE
