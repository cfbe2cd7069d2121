//! Facts: what documents say, typed, named and hashed.
//!
//! A *schema* says which fields a fact of a type may have. Schemas are data: they check facts, read
//! documents, and are the type environment of the rules language. A fact is named by type and key;
//! its *payload* is the canonical JSON of its fields, and equal payloads have equal hashes.

mod bom;
mod due_diligence;
mod fact;
mod form;
mod key;
mod pcf;
mod problem;
mod read;
mod schema;
mod tags;
mod value;

pub use fact::{Fact, FactId, Fields};
pub use key::{KeyError, MAX_KEY_LENGTH, escape_segment};
pub use problem::Problem;
pub(crate) use read::{convert, mismatch, read_decimal};
pub use read::{read_record, read_value};
pub use schema::{Access, Bound, FactSchema, FactType, Field, FieldType, TagSet, TextForm};
pub use value::Value;
