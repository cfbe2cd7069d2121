-- Has any lease ended? Whoever only looks need not stand in line with those who write.
SELECT EXISTS (SELECT 1 FROM leases WHERE lease_expires_at <= ?1)
