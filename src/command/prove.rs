//! `bpc prove`: a file that shows what the log says about a job or an event, to whoever has the log's key.

use std::path::Path;

use bpc_archive::Archive;
use bpc_core::proof::{Proof, Report, check};
use bpc_core::{Envelope, TenantId};
use bpc_eventstore::seal::{Keyring, ProveError, log_stream, prove_event, prove_job};
use serde::Serialize;

use crate::call::Call;
use crate::cli::ProveCommand;
use crate::command::keys::verifiers;
use crate::error::{Exit, Failure, chained};
use crate::files;

pub async fn run(call: &Call<'_>, command: ProveCommand) -> Result<Exit, Failure> {
    if let ProveCommand::Job { archive: Some(directory), .. }
    | ProveCommand::Event { archive: Some(directory), .. } = &command
    {
        return from_archive(call, &directory.clone(), command);
    }
    let store = call.open().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let mut tx = store.begin_read().await?;
    let keyring = Keyring::load(&mut tx.conn()).await?;
    let (proof, uncovered, path) = match command {
        ProveCommand::Job { job_id, output, .. } => {
            let proven = prove_job(&mut tx.conn(), tenant, job_id).await;
            let proven = proven.map_err(|error| match error {
                ProveError::NotFound(_) => crate::command::jobs::not_found(call, job_id),
                error => error.into(),
            })?;
            (proven.proof, proven.uncovered, output)
        }
        ProveCommand::Event { stream_id, version, output, .. } => {
            // The log's own stream belongs to no tenant.
            let tenant = if stream_id == log_stream() { TenantId::SYSTEM } else { tenant };
            (prove_event(&mut tx.conn(), tenant, stream_id, version).await?, 0, output)
        }
    };
    drop(tx);
    let (bytes, report) = checked(&proof, &keyring)?;
    hand_over(call, path.as_deref(), &bytes, &report, uncovered)?;
    Ok(Exit::Done)
}

/// The same from files, with no database near. An archive holds only what is sealed and signed for.
fn from_archive(call: &Call<'_>, directory: &Path, command: ProveCommand) -> Result<Exit, Failure> {
    let archive = Archive::open(directory)?;
    let (proof, what, path) = match command {
        ProveCommand::Job { job_id, output, .. } => {
            (archive.prove_job(job_id)?, format!("job {job_id}"), output)
        }
        ProveCommand::Event { stream_id, version, output, .. } => {
            let what = format!("version {version} of stream {stream_id}");
            (archive.prove_event(stream_id, version)?, what, output)
        }
    };
    let of_tenant = |proof: &Proof| !call.tenant_is_asked_for || is_of_tenant(proof, &call.tenant);
    let proof = proof.filter(of_tenant).ok_or_else(|| {
        let problem = format!("there is no {what} in the archive {}", directory.display());
        Failure::refused("EVENT_NOT_FOUND", problem)
    })?;
    let (bytes, report) = checked(&proof, &archive.keyring()?)?;
    hand_over(call, path.as_deref(), &bytes, &report, 0)?;
    Ok(Exit::Done)
}

/// Is what is proved that tenant's, by slug or id?
fn is_of_tenant(proof: &Proof, tenant: &str) -> bool {
    let first = proof.events.first().and_then(|event| Envelope::read(event.event.as_bytes()).ok());
    first.is_some_and(|event| {
        event.tenant_id.to_string() == tenant || event.tenant_id == TenantId::from_slug(tenant)
    })
}

/// The bytes of the file, once they are known to hold: what was damaged in the database must not leave
/// the house as a proof.
fn checked(proof: &Proof, keyring: &Keyring) -> Result<(Vec<u8>, Report), Failure> {
    let bytes = proof.write()?;
    let report = check(&bytes, &verifiers(keyring)).map_err(|error| {
        let problem = format!("the log does not bear it out: {}; run `bpc verify`", chained(&error));
        Failure::refused(error.code(), problem)
    })?;
    Ok((bytes, report))
}

/// The names are part of the contract.
#[derive(Serialize)]
struct ProofLine {
    file: String,
    stream_type: String,
    stream_id: String,
    first_version: u32,
    last_version: u32,
    origin: String,
    checkpoint_size: u64,
    positions: Vec<u64>,
    /// Later events that no checkpoint covers yet.
    uncovered: usize,
}

fn hand_over(
    call: &Call<'_>,
    path: Option<&Path>,
    bytes: &[u8],
    report: &Report,
    uncovered: usize,
) -> Result<(), Failure> {
    match path {
        // It is one line of JSON as it is.
        None => call.output.document(bytes),
        Some(path) => {
            files::write(path, bytes)?;
            let line = ProofLine {
                file: path.display().to_string(),
                stream_type: report.stream_type.clone(),
                stream_id: report.stream_id.to_string(),
                first_version: report.first.0,
                last_version: report.head.version.0,
                origin: report.origin.clone(),
                checkpoint_size: report.size,
                positions: report.positions.clone(),
                uncovered,
            };
            call.output.result(&line, |output| {
                let (file, kind, stream) = (&line.file, &line.stream_type, &line.stream_id);
                let versions = match line.positions.len() {
                    1 => format!("version {}", line.last_version),
                    _ => format!("versions {} to {}", line.first_version, line.last_version),
                };
                output.line(format_args!("{file}: {kind} {stream}, {versions}, sealed in {}", line.origin));
                output.line(format_args!("Check it with: bpc check {file} --key VKEY (see `bpc keys list`)"));
            });
        }
    }
    if uncovered > 0 {
        let problem = "not in it: no checkpoint covers them yet; `bpc seal --once` makes one";
        call.output.remark(format_args!("The last {uncovered} events of the job are {problem}."));
    }
    Ok(())
}
