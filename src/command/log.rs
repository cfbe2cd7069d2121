//! `bpc log`: the sealed order, to read and to follow.

use std::time::Duration;

use bpc_core::{Envelope, TenantId};
use bpc_eventstore::Store;
use bpc_eventstore::seal::{SealedEvent, read_sealed, sealed_head, unsealed};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::call::Call;
use crate::cli::LogArgs;
use crate::error::{Exit, Failure};
use crate::output::count;
use crate::signals;

/// Events read at once: a fraction of a megabyte, and nearly as fast as a scan.
const PAGE: usize = 2000;
/// How often a follower looks; seals come once a second.
const LOOK: Duration = Duration::from_millis(200);

pub async fn run(call: &Call<'_>, args: LogArgs) -> Result<Exit, Failure> {
    let stop = match args.follow {
        true => signals::stop_token("stopping: no longer following")?,
        false => CancellationToken::new(),
    };
    let store = call.open().await?;
    let tenant = match call.tenant_is_asked_for {
        true => Some(call.tenant(&store).await?.tenant_id),
        false => None,
    };
    let mut reader = Reader { call, store: &store, args: &args, tenant, next: args.from, shown: 0 };
    reader.read_to_the_end(&stop).await?;
    while args.follow && !reader.is_over(&stop) {
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(LOOK) => {
                // The database may be away for a while; whoever follows waits for it.
                match reader.read_to_the_end(&stop).await {
                    Err(failure) if failure.code == "DATABASE_UNAVAILABLE" => {
                        tracing::warn!("{}; trying again", failure.message);
                    }
                    read => read?,
                }
            }
        }
    }
    if !args.follow {
        reader.say_what_is_not_shown().await?;
    }
    Ok(Exit::Done)
}

struct Reader<'a> {
    call: &'a Call<'a>,
    store: &'a Store,
    args: &'a LogArgs,
    tenant: Option<TenantId>,
    next: u64,
    shown: u64,
}

impl Reader<'_> {
    fn is_over(&self, stop: &CancellationToken) -> bool {
        // A reader that went away ends the following, too.
        stop.is_cancelled() || self.call.output.is_closed()
    }

    /// Everything that is sealed now and wanted, page by page.
    async fn read_to_the_end(&mut self, stop: &CancellationToken) -> Result<(), Failure> {
        while !self.is_over(stop) {
            let until = self.args.to.unwrap_or(u64::MAX);
            let limit = (until.saturating_sub(self.next)).min(PAGE as u64) as usize;
            let mut tx = self.store.begin_read().await?;
            let page = read_sealed(&mut tx.conn(), self.next, limit).await?;
            drop(tx);
            for event in &page {
                self.show(event)?;
                self.next = event.position + 1;
            }
            if page.len() < limit || limit == 0 {
                break;
            }
        }
        Ok(())
    }

    fn show(&mut self, sealed: &SealedEvent) -> Result<(), Failure> {
        let LogArgs { stream, event_type, .. } = self.args;
        let envelope = sealed.event.envelope().map_err(|error| {
            let place = format!("the event at position {} cannot be read", sealed.position);
            Failure::refused(error.code(), format!("{place}: {error}; run `bpc verify`"))
        })?;
        let is_wanted = stream.is_none_or(|stream| envelope.stream_id == stream)
            && event_type.as_ref().is_none_or(|wanted| *wanted == *envelope.event_type)
            && self.tenant.is_none_or(|tenant| envelope.tenant_id == tenant);
        if is_wanted {
            self.shown += 1;
            self.print(sealed, &envelope);
        }
        Ok(())
    }

    fn print(&self, sealed: &SealedEvent, envelope: &Envelope<'_>) {
        let event_hash = sealed.event.hash().map(|hash| hash.to_string()).unwrap_or_default();
        let event = std::str::from_utf8(&sealed.event.event_bytes).ok();
        let event = event.and_then(|text| serde_json::from_str::<&RawValue>(text).ok());
        let line = LogLine { position: sealed.position, event_hash: &event_hash, event };
        self.call.output.result(&line, |output| {
            let paint = output.paint();
            let Envelope { event_type, stream_type, stream_id, version, actor, .. } = envelope;
            let at = &envelope.occurred_at.to_string()[..23];
            let hash = paint.faint(&event_hash[..event_hash.len().min(12)]);
            output.line(format_args!(
                "{:>9}  {at}Z  {event_type:<24}  {hash}  {stream_type} {stream_id} {version}  {actor}",
                sealed.position
            ));
        });
    }

    /// An empty page must not be taken for an empty log.
    async fn say_what_is_not_shown(&self) -> Result<(), Failure> {
        let size = sealed_head(&mut self.store.begin_read().await?.conn()).await?.size;
        let waiting = unsealed(self.store).await?.events;
        if self.shown == 0 {
            self.call.output.remark(format_args!("Nothing to show; {} events are sealed.", count(size)));
        }
        if waiting > 0 && self.args.to.is_none_or(|to| to > size) {
            let waiting = count(waiting);
            self.call.output.remark(format_args!("{waiting} events are not sealed yet and not shown."));
        }
        Ok(())
    }
}

/// The names are part of the contract.
#[derive(Serialize)]
struct LogLine<'a> {
    position: u64,
    event_hash: &'a str,
    /// To the letter as it was hashed.
    event: Option<&'a RawValue>,
}
