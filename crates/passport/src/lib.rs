//! The battery-passport pack: fact schemas, importers, rules language, pure compiler, proof,
//! receipt, disclosure and QR codes; and [`pack`], which registers them with the engine. All but `pack`
//! import `core` only and touch no clock, random source, database, file or runtime.
//!
//! Everything legal is data (tables, rule packages with dates), never code.

pub mod compile;
pub mod credential;
pub mod disclosure;
pub mod facts;
mod hash;
pub mod import;
pub mod json;
pub mod pack;
pub mod proof;
pub mod qr;
pub mod receipt;
pub mod rules;
pub mod snapshot;
pub mod value;
