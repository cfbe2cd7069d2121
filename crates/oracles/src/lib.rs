//! The proof maths of `core` against code by others: `ct-merkle`, and `tlog_tiles` and `signed_note`, which
//! come from Go's checksum database. Empty but for its tests; no room imports it.
