//! What mistakes in a package print. Each `NAME.rules` in `tests/data/rules-diagnostics` has the text it
//! gives beside it; `BPC_BLESS=1` writes these texts anew, for a look at what changed.

use std::path::{Path, PathBuf};

use bpc_passport::rules::{Sources, check, parse};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rules-diagnostics")
}

fn mistakes() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("it can be read").file_name().into_string().expect("UTF-8"));
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".rules")?.to_owned())).collect();
    names.sort();
    names
}

fn printed(name: &str) -> String {
    let file = format!("{name}.rules");
    let text = std::fs::read_to_string(folder().join(&file)).expect("it can be read");
    let sources = Sources::single(&file, &text);
    match parse(&sources).and_then(|package| check(&package)) {
        Ok(checked) => checked.warnings().render(&sources, false),
        Err(wrong) => wrong.render(&sources, false),
    }
}

#[test]
fn every_mistake_prints_what_is_stored_beside_it() {
    let mut changed = Vec::new();
    for name in mistakes() {
        let (printed, path) = (printed(&name), folder().join(format!("{name}.txt")));
        if std::env::var_os("BPC_BLESS").is_some() {
            std::fs::write(&path, &printed).expect("it can be written");
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        if stored != printed {
            changed.push(format!("--- {name}: stored\n{stored}+++ printed\n{printed}"));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

#[test]
fn every_mistake_shows_its_place_and_says_what_to_do() {
    let names = mistakes();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        let printed = printed(&name);
        assert!(printed.contains(&format!("--> {name}.rules:")), "{name} shows no place:\n{printed}");
        assert!(printed.contains('^'), "{name} points at nothing:\n{printed}");
        assert!(printed.contains("help: "), "{name} does not say what to do:\n{printed}");
    }
}
