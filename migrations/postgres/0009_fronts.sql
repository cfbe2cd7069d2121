-- How far a lease got, so that the next one of the same kind, whoever takes it, need not walk over what others have
-- leased. The scope says which lane it was and which types were taken; what was due before is leased, by
-- priority. A lease that left anything out says nothing.
ALTER TABLE leases ADD COLUMN scope UUID, ADD COLUMN reached BIGINT[];
CREATE INDEX leases_scope ON leases (scope, lease_id) WHERE scope IS NOT NULL;
