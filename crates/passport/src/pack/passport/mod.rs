//! Products, passports and their versions.
//!
//! A passport belongs to a product. A version is compiled (COMPILING), signed (SIGNED), put in force
//! (ACTIVE), replaced (SUPERSEDED) or taken back (REVOKED). Its id follows from what it is compiled from, so
//! the first event of its stream is the lock between two compilations of the same.

mod command;
mod compare;
mod compile;
mod disclose;
pub(super) mod events;
mod input;
mod order;
mod product;
mod qr;
mod replay;
mod sign;
mod state;
mod what_if;

pub use command::{activate, create_passport, revoke};
pub use compare::RulesComparison;
pub use compile::CompilePassport;
pub use disclose::disclose;
pub use order::{CompileOrder, compile_passport};
pub use product::{Product, add_product, product, product_by_sku};
pub use qr::GenerateQr;
pub use replay::{VersionCheck, replay_version};
pub use sign::SignPassport;
pub use state::{Passport, PassportVersion, Qr, VersionStatus, passport, passport_version};
pub use what_if::{Compilation, what_if};
