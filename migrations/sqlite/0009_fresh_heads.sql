-- The head of a job that is as it was enqueued is its first event, which whoever leases it reads anyway.
UPDATE job_queue SET head_hash = NULL WHERE version = 1;
