-- Those that stay in pieces that others leave.
UPDATE queue_cohorts AS piece SET members = kept.members
FROM unnest($1::uuid[], $2::int8[]) AS kept(piece_id, members)
WHERE piece.piece_id = kept.piece_id
