-- One writer at a time, in one file: whoever leases walks over nothing that others do not have to.
SELECT 1;
