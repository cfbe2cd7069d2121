-- No conflict is expected: an event is sealed once.
INSERT INTO late_events (event_id, position) SELECT unnest($1::int8[]), unnest($2::int8[])
