//! The packs that this program serves.

use bpc_drills::DRILLS;
use bpc_passport::pack::Settings as PassportSettings;
use bpc_secrets::KeySource;
use bpc_webhooks::Settings as WebhookSettings;
use bpc_worker::Registry;

/// Everything that is registered. A new pack is one line here.
pub fn registry(passports: &PassportSettings, webhooks: WebhookSettings) -> Registry {
    let mut registry = Registry::new();
    bpc_drills::register(&mut registry);
    bpc_passport::pack::register(&mut registry, passports);
    bpc_webhooks::register(&mut registry, webhooks);
    registry
}

/// The same for whoever runs no job: names, events and views.
pub fn names() -> Registry {
    let nowhere = KeySource::File("bpc-secrets.key".into());
    registry(&PassportSettings::new(nowhere.clone()), WebhookSettings::strict(nowhere))
}

/// The job types with what is said about them, one or two lines each.
pub fn types_help() -> String {
    let registry = names();
    let described = |name: &str| DRILLS.iter().find(|drill| drill.job_type == name);
    let lines = registry.type_names().map(|name| match described(name) {
        Some(drill) => format!("  {name:<12}  {}\n  {:<12}  --payload '{}'\n", drill.does, "", drill.example),
        None => format!("  {name}\n"),
    });
    lines.collect()
}
