//! The receipt: one small object that names every input and every result of a compilation by hash,
//! and the signature over it.

mod key;
mod sign;
mod version_id;
mod write;

pub use key::{KeyError, SigningKey, key_id};
pub(crate) use sign::verify_bytes;
pub use sign::{SignError, SignatureInvalid, sign, verify};
pub use version_id::passport_version_id;
pub use write::{RECEIPT_FORMAT, Receipt, TestRun, VerdictCounts};
