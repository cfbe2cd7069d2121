//! The packs that this program serves.

use bpc_worker::Registry;

/// Everything that is registered. A new pack is one line here.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    bpc_drills::register(&mut registry);
    registry
}
