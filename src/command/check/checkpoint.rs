//! A checkpoint alone, and one that continues another.

use bpc_core::Timestamp;
use bpc_core::note::{Checkpoint, VerifierKey, open_checkpoint};
use bpc_core::proof::{Continued, check_consistency};
use serde::Serialize;
use serde_json::json;

use crate::call::Call;
use crate::error::{Failure, chained};
use crate::output::{Table, count};

use super::print_meaning;

const SIGNED: [&str; 1] = ["The log's key signed this size and root, and so everything sealed up to there."];
const NOT_BY_SIGNATURE: [&str; 2] = [
    "That a database holds what was signed: for that, `bpc verify --checkpoint FILE`.",
    "That it continues another checkpoint: for that, `bpc checkpoint --since FILE` where the log is.",
];
const CONTINUED: [&str; 1] = [
    "Nothing that was sealed in the older checkpoint has been changed, removed, moved or put in between: the newer log begins with it.",
];
const NOT_BY_CONTINUATION: [&str; 2] = [
    "That a database holds what was signed: for that, `bpc verify --checkpoint FILE`.",
    "That everybody is shown the same log: for that, compare checkpoints, or ask for witnesses.",
];

/// The names are part of the contract.
#[derive(Serialize)]
struct Line<'a> {
    origin: &'a str,
    size: u64,
    root: String,
}

impl<'a> Line<'a> {
    fn of(checkpoint: &'a Checkpoint) -> Self {
        let Checkpoint { origin, size, root, .. } = checkpoint;
        Line { origin, size: *size, root: root.to_string() }
    }
}

/// Who signed it, and when.
pub(super) fn run(call: &Call<'_>, bytes: &[u8], keys: &[VerifierKey]) -> Result<(), Failure> {
    let refused = |error: bpc_core::note::OpenError| Failure::refused(error.code(), chained(&error));
    let opened = open_checkpoint(bytes, keys).map_err(refused)?;
    let at = |seconds: u64| Timestamp::from_micros(seconds as i64 * 1_000_000).to_string();
    let signers: Vec<(String, String)> = opened
        .witnesses
        .iter()
        .filter_map(|signed| Some((signed.key.name().to_owned(), at(signed.at?))))
        .collect();
    let (own, witnesses): (Vec<_>, Vec<_>) =
        signers.into_iter().partition(|(name, _)| *name == opened.checkpoint.origin);
    let unchecked: Vec<String> =
        opened.unknown.iter().map(|(name, id)| format!("{name} (key {id})")).collect();
    let said: Vec<_> = witnesses.iter().map(|(name, at)| json!({"name": name, "at": at})).collect();
    let object = json!({
        "holds": true,
        "kind": "checkpoint",
        "checkpoint": Line::of(&opened.checkpoint),
        "signed_at": own.first().map(|(_, at)| at),
        "witnesses": said,
        "unchecked": unchecked,
        "proves": SIGNED,
        "does_not_prove": NOT_BY_SIGNATURE,
    });
    call.output.result(&object, |output| {
        let mut table = Table::pairs();
        table.pair("checkpoint", output.paint().good("holds"));
        table.pair("log", &opened.checkpoint.origin);
        table.pair("size", format!("{} events sealed", count(opened.checkpoint.size)));
        table.pair("root", opened.checkpoint.root);
        if let Some((_, at)) = own.first() {
            table.pair("signed", format!("at {at}, as the log says"));
        }
        witnesses.iter().for_each(|(name, at)| table.pair("witness", format!("{name} at {at}")));
        if !unchecked.is_empty() {
            table.pair("not checked", format!("{}: no key given", unchecked.join(", ")));
        }
        table.print(output);
        print_meaning(output, &SIGNED, &NOT_BY_SIGNATURE);
    });
    Ok(())
}

/// Does the newer one begin with the older one?
pub(super) fn continued(
    call: &Call<'_>,
    document: &[u8],
    kept: &[u8],
    keys: &[VerifierKey],
) -> Result<(), Failure> {
    let refused = |error: bpc_core::proof::ConsistencyError| Failure::refused(error.code(), chained(&error));
    let Continued { older, newer } = check_consistency(document, kept, keys).map_err(refused)?;
    let object = json!({
        "holds": true,
        "kind": "consistency",
        "older": Line::of(&older),
        "newer": Line::of(&newer),
        "proves": CONTINUED,
        "does_not_prove": NOT_BY_CONTINUATION,
    });
    call.output.result(&object, |output| {
        let mut table = Table::pairs();
        table.pair("continuation", output.paint().good("holds"));
        table.pair("log", &newer.origin);
        for (name, checkpoint) in [("older", &older), ("newer", &newer)] {
            table.pair(name, format!("{} events, root {}", count(checkpoint.size), checkpoint.root));
        }
        table.print(output);
        print_meaning(output, &CONTINUED, &NOT_BY_CONTINUATION);
    });
    Ok(())
}
