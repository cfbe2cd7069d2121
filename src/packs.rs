//! The packs that this program serves.

use bpc_drills::DRILLS;
use bpc_worker::Registry;

/// Everything that is registered. A new pack is one line here.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    bpc_drills::register(&mut registry);
    registry
}

/// The job types with what is said about them, one or two lines each.
pub fn types_help() -> String {
    let registry = registry();
    let described = |name: &str| DRILLS.iter().find(|drill| drill.job_type == name);
    let lines = registry.type_names().map(|name| match described(name) {
        Some(drill) => format!("  {name:<12}  {}\n  {:<12}  --payload '{}'\n", drill.does, "", drill.example),
        None => format!("  {name}\n"),
    });
    lines.collect()
}
