//! The Catena-X aspect models.

pub(super) mod battery_pass;
pub(super) mod bom;
pub(super) mod pcf;
