-- Bytes too large for an event, by what they hash to.
CREATE TABLE blobs (
    sha256 BYTEA PRIMARY KEY,
    length BIGINT NOT NULL,
    bytes  BYTEA NOT NULL
);
