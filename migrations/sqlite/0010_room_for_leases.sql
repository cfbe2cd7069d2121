-- Only PostgreSQL keeps room in its pages.
SELECT 1;
