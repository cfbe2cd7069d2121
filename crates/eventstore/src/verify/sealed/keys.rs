//! Keys: who may speak for the log, and since when.

use std::collections::BTreeMap;

use bpc_core::Hash;
use bpc_core::log_events::LOG;
use bpc_core::note::VerifierKey;

use crate::seal::{KeyEpoch, Keyring, Standing, log_stream};
use crate::verify::finding::{Finding, Findings, L1};

const KEY_HANDOVER_INVALID: &str = "KEY_HANDOVER_INVALID";
const KEY_NOT_VOUCHED: &str = "KEY_NOT_VOUCHED";
const KEY_NOT_KNOWN: &str = "KEY_NOT_KNOWN";
const REOPENED_ELSEWHERE: &str = "REOPENED_ELSEWHERE";

/// Every key but the first must have been handed the log by the one before. `known` are keys that the
/// caller trusts: with any given, one of them must be where trust begins.
pub(in crate::verify) fn check_keys(
    keyring: &Keyring,
    known: &[VerifierKey],
    roots: &BTreeMap<u64, Hash>,
    findings: &mut Findings,
) {
    for (version, reason) in &keyring.refused {
        findings.add(|| Finding {
            version: Some(version.0.into()),
            message: format!("this hand-over to another key counts for nothing: {reason}"),
            ..of_log(KEY_HANDOVER_INVALID)
        });
    }
    let is_known =
        |epoch: &KeyEpoch| epoch.verifiers().is_some_and(|[verifier, _]| known.contains(&verifier));
    let begins = keyring.epochs.iter().position(is_known);
    if !known.is_empty() && begins.is_none() && !keyring.epochs.is_empty() {
        let found = keyring.epochs.iter().map(spelled).collect::<Vec<_>>().join(", ");
        findings.add(|| Finding {
            expected: Some(known.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")),
            found: Some(found),
            message: "none of the keys you trust speaks for this log".to_owned(),
            ..of_log(KEY_NOT_KNOWN)
        });
    }
    for epoch in keyring.epochs.iter().skip(begins.unwrap_or(0) + 1) {
        let Standing::Reopened { is_vouched, event } = &epoch.standing else {
            continue;
        };
        if !is_vouched && !is_known(epoch) {
            findings.add(|| Finding {
                version: Some(epoch.version.0.into()),
                position: epoch.first_size.map(|size| size - 1),
                found: Some(spelled(epoch)),
                message:
                    "a new origin was opened without the word of the old key: if you know the new key to be \
                          right, give it to verify"
                        .to_owned(),
                ..of_log(KEY_NOT_VOUCHED)
            });
        }
        let root = roots.get(&event.size).map(Hash::to_string);
        if epoch.first_size.is_some_and(|first| first != event.size + 1)
            || root.is_some_and(|root| root != event.root)
        {
            findings.add(|| Finding {
                version: Some(epoch.version.0.into()),
                position: epoch.first_size.map(|size| size - 1),
                expected: Some(format!("position {} behind root {}", event.size, event.root)),
                message: "this is not where the event says that the new origin begins".to_owned(),
                ..of_log(REOPENED_ELSEWHERE)
            });
        }
    }
}

fn of_log(code: &'static str) -> Finding {
    Finding { stream_type: LOG.to_owned(), stream: log_stream(), ..Finding::at_level(L1, code) }
}

fn spelled(epoch: &KeyEpoch) -> String {
    let spelled = epoch.verifiers().map(|[verifier, _]| verifier.to_string());
    spelled.unwrap_or_else(|| format!("{} (not a key)", epoch.public_key))
}
