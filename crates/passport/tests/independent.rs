//! What the format's description says, run as it stands there: Python's standard library and openssl.

mod common;

use std::process::{Command, Output};

use bpc_passport::disclosure::{Bundle, Role};
use common::{passport, small};

/// The blocks of Python in the description, in order.
fn blocks() -> Vec<String> {
    let text = include_str!("../FORMAT.md");
    text.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next()).map(str::to_owned).collect()
}

fn python(script: &str, arguments: &[&str]) -> Output {
    let output = Command::new("python3").arg("-c").arg(script).args(arguments).output();
    output.expect("python3 is needed to run this test")
}

#[test]
fn the_id_of_a_version_is_what_the_description_says() {
    let output = python(&blocks()[0], &[]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(include_str!("../FORMAT.md").contains(&format!("```\n{printed}```")), "{printed}");
}

#[test]
fn an_independent_check_believes_every_bundle_and_no_changed_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |name: &str, bundle: &str, key: &[u8; 32]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bundle).expect("written");
        python(&blocks()[1], &[path.to_str().expect("a path"), &hex::encode(key)])
    };
    let compiled = passport::passport(passport::EV);
    let signed = passport::signed(&compiled);
    let bundles = Role::ALL.into_iter().flat_map(|role| {
        let whole =
            Bundle::new(role, &signed, &compiled.tree, &compiled.reads).canonical().as_str().to_owned();
        [(role, small::bundle(role), small::key().public_key()), (role, whole, passport::key().public_key())]
    });
    for (role, bundle, key) in bundles {
        let believed = check("bundle.json", &bundle, &key);
        assert!(believed.status.success(), "{role}: {}", String::from_utf8_lossy(&believed.stderr));
        assert!(String::from_utf8_lossy(&believed.stdout).contains("signature and proof agree"));
        // A start of Python and openssl for each change adds up; one role is enough for these.
        if role != Role::Public {
            continue;
        }
        for (from, to, why) in [
            ("\"450\"", "\"451\"", "section 1"),
            ("\"verdict\":\"PASS\"", "\"verdict\":\"FAIL\"", "results"),
            ("\"as_of\":\"2027-02-18\"", "\"as_of\":\"2027-02-19\"", "signature"),
            ("\"signature\":\"", "\"signature\":\"00", "signature"),
        ] {
            let changed = bundle.replacen(from, to, 1);
            assert_ne!(changed, bundle, "{role}: {from}");
            let refused = check("changed.json", &changed, &key);
            let error = String::from_utf8_lossy(&refused.stderr);
            assert!(
                !refused.status.success() && error.contains(&format!("AssertionError: {why}")),
                "{role} {from}: {error}"
            );
        }
        let stranger = check("bundle.json", &bundle, &[7; 32]);
        assert!(String::from_utf8_lossy(&stranger.stderr).contains("another key"));
    }
}
