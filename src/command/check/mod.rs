//! `bpc check`: does a proof, a checkpoint or a continuation hold? Opens no database and no connection.

mod checkpoint;
mod proof;

use bpc_core::note::{SignatureKind, VerifierKey};

use crate::call::Call;
use crate::cli::CheckArgs;
use crate::error::{Exit, Failure};
use crate::files;
use crate::output::Output;

pub fn run(call: &Call<'_>, args: &CheckArgs) -> Result<Exit, Failure> {
    let bytes = files::read(&args.file)?;
    let keys = with_times(&args.keys);
    match (kind(&bytes), &args.since) {
        (Kind::Proof, None) => proof::run(call, &bytes, &keys)?,
        (Kind::Checkpoint, None) => checkpoint::run(call, &bytes, &keys)?,
        (Kind::Continuation, Some(since)) => {
            checkpoint::continued(call, &bytes, &files::read(since)?, &keys)?;
        }
        (Kind::Continuation, None) => {
            let problem = "the file proves that a log continues an older checkpoint: name that one with --since FILE. \
                It is your own copy that makes the proof worth something";
            return Err(Failure::usage(problem));
        }
        (Kind::Proof | Kind::Checkpoint, Some(_)) => {
            let problem = "--since goes with what `bpc checkpoint --since` printed, which begins with \"old \"; this file does not";
            return Err(Failure::usage(problem));
        }
    }
    Ok(Exit::Done)
}

enum Kind {
    Proof,
    Continuation,
    Checkpoint,
}

fn kind(bytes: &[u8]) -> Kind {
    match bytes {
        [b'{', ..] => Kind::Proof,
        [b'o', b'l', b'd', b' ', ..] => Kind::Continuation,
        _ => Kind::Checkpoint,
    }
}

/// A log signs a second time together with the time, by the same key: that says when.
fn with_times(keys: &[VerifierKey]) -> Vec<VerifierKey> {
    let logs = keys.iter().filter(|key| key.kind() == SignatureKind::Ed25519);
    let timed =
        |key: &VerifierKey| VerifierKey::new(key.name(), SignatureKind::Cosignature, key.public_key());
    let times = logs.filter_map(|key| timed(key).ok()).filter(|time| !keys.contains(time));
    keys.iter().cloned().chain(times.collect::<Vec<_>>()).collect()
}

/// What holds and what does not follow: whoever shows one shows the other.
fn print_meaning(output: &Output, proves: &[&str], does_not_prove: &[&str]) {
    for (heading, sentences) in [("This shows:", proves), ("It does not show:", does_not_prove)] {
        output.line("");
        output.line(output.paint().heading(heading));
        sentences.iter().for_each(|sentence| output.line(format_args!("  * {sentence}")));
    }
}
