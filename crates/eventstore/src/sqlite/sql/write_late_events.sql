-- No conflict is expected: an event is sealed once.
INSERT INTO late_events (event_id, position) VALUES (?, ?)
