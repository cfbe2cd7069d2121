//! What is shown to whom, with proof that it is what was signed.
//!
//! A bundle holds the receipt, its signature, the attributes of the sections that its role may see,
//! and bare hashes for the rest. Whoever has the issuer's public key checks it without the issuer,
//! and learns which parts were only taken as hashes.

mod attribute;
mod bundle;
mod error;
mod role;
mod verify;

pub use attribute::{AttributeProof, VerifiedAttribute, verify_attribute};
pub use bundle::{Bundle, SignedReceipt};
pub use error::DisclosureError;
pub use role::{Role, UnknownRole};
pub use verify::{Verified, verify};
