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

/// What the other packs' types do; commands enqueue them, rarely a person.
const OTHERS: [(&str, &str, &str); 7] = [
    ("PARSE_FACTS", "a document to facts", r#"{"document_version_id":ID}"#),
    ("BUILD_SNAPSHOT", "checks the facts of a snapshot", r#"{"snapshot_id":ID}"#),
    (
        "COMPILE_PASSPORT",
        "facts and rules to a passport version",
        r#"{"passport_id":ID,"rule_package_version_id":ID,"snapshot_id":ID}"#,
    ),
    ("SIGN_PASSPORT", "signs a version", r#"{"passport_version_id":ID}"#),
    ("GENERATE_QR", "draws the codes of a version", r#"{"passport_version_id":ID}"#),
    ("RUN_RULE_TESTS", "tests a rule package", r#"{"rule_package_version_id":ID,"seed":1}"#),
    ("DELIVER_WEBHOOK", "an event to a subscriber", r#"{"webhook_delivery_id":ID}"#),
];

/// The job types with what is said about them, one or two lines each.
pub fn types_help() -> String {
    let registry = names();
    let lines = registry.type_names().map(|name| {
        let drill = DRILLS.iter().find(|drill| drill.job_type == name);
        let other = OTHERS.iter().find(|(other, ..)| *other == name);
        let said =
            drill.map(|it| (it.does, it.example)).or(other.map(|(_, does, example)| (*does, *example)));
        match said {
            Some((does, example)) => format!("  {name:<16}  {does}\n  {:<16}  --payload '{example}'\n", ""),
            None => format!("  {name}\n"),
        }
    });
    lines.collect()
}
