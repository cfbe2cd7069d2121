-- Bytes too large for an event, by what they hash to.
CREATE TABLE blobs (
    sha256 BLOB NOT NULL PRIMARY KEY,
    length INTEGER NOT NULL,
    bytes  BLOB NOT NULL
);
