DELETE FROM leases WHERE lease_id IN (VALUES (?))
