-- Events that have the id of one in a cohort.
SELECT cohort.id, event.id
FROM cohort_events cohort
JOIN events event ON event.id BETWEEN cohort.id AND cohort.id | 63 AND (event.id & 63) < length(cohort.stream_ids) / 16
WHERE cohort.id & 63 = 0
ORDER BY cohort.id, event.id
