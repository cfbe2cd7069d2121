//! `bpc verify`: check the whole log, and say exactly what that rules out.

mod archive;
mod meaning;
mod page;
mod print;
mod told;

use std::path::Path;

use bpc_core::note::SignatureKind;
use bpc_eventstore::Store;
use bpc_eventstore::verify::{
    BlobReport, KeptCheckpoint, VerifyOptions, VerifyReport, blob_count, check_blobs, event_count_estimate,
    verify,
};
use bpc_projections::replay::CheckReport;
use serde::Serialize;

use crate::call::Call;
use crate::cli::VerifyArgs;
use crate::command::passport::{self, PassportsReport};
use crate::command::replay;
use crate::error::{Exit, Failure};
use crate::{files, packs, progress};

use told::Told;

pub use print::print;

pub async fn run(call: &Call<'_>, args: VerifyArgs) -> Result<Exit, Failure> {
    let options = options(&args)?;
    if let Some(directory) = &args.archive {
        return archive::run(call, &args, &options, directory);
    }
    let store = call.open().await?;
    let log = check(call, &store, &options).await?;
    let blobs = match args.blobs {
        true => Some(rehash(call, &store).await?),
        false => None,
    };
    let projections = match args.projections {
        true => Some(replay::compare(call, &store).await?),
        false => None,
    };
    let passports = match args.passports {
        true => Some(passport::verify_all(call, &store).await?),
        false => None,
    };
    let verified = Verified { log, blobs, projections, passports };
    if let Some(path) = &args.report {
        let findings: Vec<Told> = verified.log.findings.iter().map(Told::from).collect();
        let source = format!("a {} database", store.kind());
        let page = page::page(&verified, &findings, &args, &source, store.now().await?);
        files::write(path, page.as_bytes())?;
    }
    call.output.result(&verified, |output| {
        print(output, &verified.log);
        print::print_more(output, &verified, &args);
    });
    Ok(if verified.is_sound() { Exit::Done } else { Exit::Findings })
}

/// Everything that was asked for. The names are part of the contract.
#[derive(Serialize)]
struct Verified {
    #[serde(flatten)]
    log: VerifyReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    blobs: Option<BlobReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    projections: Option<CheckReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passports: Option<PassportsReport>,
}

impl Verified {
    fn is_sound(&self) -> bool {
        self.log.is_sound()
            && self.blobs.as_ref().is_none_or(|blobs| blobs.findings_total == 0)
            && self.projections.as_ref().is_none_or(CheckReport::is_clean)
            && self.passports.as_ref().is_none_or(PassportsReport::is_sound)
    }
}

/// Verify, with a bar on a terminal.
pub async fn check(call: &Call<'_>, store: &Store, options: &VerifyOptions) -> Result<VerifyReport, Failure> {
    let total = event_count_estimate(store).await?;
    let bar = progress::bar(call.output, "verify", total);
    let report = verify(store, options, |events| bar.set_position(events)).await;
    bar.finish_and_clear();
    Ok(report?)
}

async fn rehash(call: &Call<'_>, store: &Store) -> Result<BlobReport, Failure> {
    let bar = progress::bar(call.output, "blobs", blob_count(store).await?);
    let report = check_blobs(store, packs::names().blob_fields(), |blobs| bar.set_position(blobs)).await;
    bar.finish_and_clear();
    Ok(report?)
}

fn options(args: &VerifyArgs) -> Result<VerifyOptions, Failure> {
    let kept: Result<Vec<KeptCheckpoint>, Failure> = args.checkpoints.iter().map(|path| kept(path)).collect();
    if let Some(key) = args.witnesses.iter().find(|key| key.kind() != SignatureKind::Cosignature) {
        return Err(Failure::usage(format!("{key} is the key of a log: --witness takes keys of witnesses")));
    }
    if let Some(key) = args.keys.iter().find(|key| key.kind() != SignatureKind::Ed25519) {
        return Err(Failure::usage(format!("{key} is the key of a witness: --key takes keys of the log")));
    }
    Ok(VerifyOptions {
        keys: args.keys.clone(),
        checkpoints: kept?,
        witnesses: args.witnesses.clone(),
        unsealed_age_max: args.unsealed_max,
        ..VerifyOptions::default()
    })
}

fn kept(path: &Path) -> Result<KeptCheckpoint, Failure> {
    KeptCheckpoint::parse(&files::read(path)?)
        .map_err(|error| Failure::wrong_use(error.code, format!("{}: {error}", path.display())))
}
