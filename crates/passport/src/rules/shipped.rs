//! The packages that come with the program, as they lie in `rules/`.

use super::load::load;
use super::source::Sources;

/// Versions of `eu-2023-1542` that come with the program, oldest first.
pub const EU_2023_1542: &[&str] = &["v1.0", "v2.0"];

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/eu-2023-1542/", $name)))),*]
    };
}

const FILES: &[(&str, &str)] = files! {
    "common/attributes.rules"
    "common/definitions.rules"
    "common/rules.rules"
    "common/tests/attributes.rules"
    "common/tests/fixtures.rules"
    "common/tests/rules.rules"
    "common/tests/tables.rules"
    "v1.0/guidance.rules"
    "v1.0/package.rules"
    "v1.0/tests.rules"
    "v1.0/tests_guidance.rules"
    "v2.0/guidance.rules"
    "v2.0/package.rules"
    "v2.0/tests.rules"
    "v2.0/tests_guidance.rules"
};

/// The texts of a version of `eu-2023-1542`; `None` if there is no such version.
pub fn eu_2023_1542(version: &str) -> Option<Sources> {
    if !EU_2023_1542.contains(&version) {
        return None;
    }
    let read = |name: &str| {
        let file = FILES.iter().find(|(file, _)| *file == name);
        file.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "it does not come with the program".to_owned())
    };
    load(&format!("{version}/package.rules"), read).ok()
}
