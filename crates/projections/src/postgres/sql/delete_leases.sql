DELETE FROM leases WHERE lease_id = ANY($1::uuid[])
