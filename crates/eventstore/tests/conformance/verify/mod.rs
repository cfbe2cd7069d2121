//! Level L0 of verify: what it finds and where, what it does not, and no false alarm.

mod alike;
mod cohorts;
mod columns;
mod found_types;
mod hidden_rows;
mod histories;
mod log;
mod memory;
mod passwords;
mod rows;
mod sound;
mod table_order;
mod tampering;
