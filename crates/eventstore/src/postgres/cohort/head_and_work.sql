-- How far the log is sealed; and whether there is anything behind the highest sealed id, which may be in the middle of a
-- cohort, or a gap to look into.
SELECT size, root, EXISTS (SELECT 1 FROM events WHERE id > $1)
    OR EXISTS (SELECT 1 FROM cohort_events WHERE id >= ($1 & -64) AND id + octet_length(event_hashes) / 32 > $1 + 1)
    OR EXISTS (SELECT 1 FROM seal_gaps)
FROM log_state WHERE only_row = 1
