-- A row of a job that is as it was enqueued grows by a quarter when it is leased: room for that, so that a lease stays
-- within its page. At 48 % one lease of sixteen did not, and its row had to be entered in both indexes again.
ALTER TABLE job_queue SET (fillfactor = 42);
