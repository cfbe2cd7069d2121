//! `bpc bench`: what this database can do, measured in a tenant and a queue of its own, so that it
//! never runs anybody else's jobs.

mod latency;
mod measure;
mod passports;
mod report;
mod wal;

use bpc_eventstore::{add_tenant, entropy};
use bpc_worker::{Engine, Enqueue, TenantId};

use crate::call::Call;
use crate::cli::BenchArgs;
use crate::error::{Exit, Failure};
use crate::packs;

use measure::Bench;
use report::BenchReport;

/// The queue it works on.
const QUEUE: &str = "bench";

pub async fn run(call: &Call<'_>, args: BenchArgs) -> Result<Exit, Failure> {
    if let Some(number) = args.passports {
        return passports::run(call, &args, number).await;
    }
    // Jobs of any one type do; this one costs nothing and takes any payload.
    let job = Enqueue::new("DRILL_NOOP", &padding(args.payload_bytes))?.queue(QUEUE);
    let store = call.open_or_create().await?;
    let slug = format!("bench-{}", hex::encode(&entropy()[..4]));
    let tenant = add_tenant(&store, &slug, "Benchmark", &call.actor).await?.tenant_id;
    warn(call, tenant, &slug);
    let (mut registry, started) = (packs::names(), latency::Started::default());
    registry.job(started.handler());
    let engine = Engine::new(store.clone(), registry.clone());
    let bench = Bench { call, args: &args, engine, registry, tenant };

    let wal_before = wal::position(&store).await?;
    let enqueued = bench.enqueue(job).await?;
    let processed = bench.process().await?;
    let wal_after = wal::position(&store).await?;
    let latencies = bench.latency(started).await?;
    let verified = bench.verify().await?;

    let report = BenchReport {
        database: store.kind(),
        tenant: slug,
        jobs: args.jobs as u64,
        batch: bench.batch(),
        workers: args.workers,
        concurrency: bench.concurrency(),
        payload_bytes: args.payload_bytes,
        enqueue_per_s: enqueued.per_second(),
        process_per_s: processed.per_second(),
        latency_ms: latencies.into(),
        verify_events_per_s: verified.per_second(),
        verify_findings: verified.findings,
        wal_bytes_per_job: wal_before.zip(wal_after).map(|(from, to)| (to - from) / args.jobs as i64),
    };
    call.output.result(&report, |output| report.print(output));
    let is_sound = processed.number == args.jobs as u64 && verified.findings == 0;
    Ok(if is_sound { Exit::Done } else { Exit::Findings })
}

/// Whoever measures on a log that matters should know.
fn warn(call: &Call<'_>, tenant: TenantId, slug: &str) {
    let warning = "the jobs of this benchmark stay in this log for ever";
    if call.output.is_json() {
        tracing::warn!(tenant.id = %tenant, "{warning}");
    } else {
        call.output.remark(format_args!("Note: {warning}, under tenant {slug}."));
    }
}

/// A payload that takes that many bytes, or the least there is.
fn padding(bytes: usize) -> serde_json::Value {
    const FRAME: usize = r#"{"padding":""}"#.len();
    match bytes.checked_sub(FRAME) {
        Some(bytes) => serde_json::json!({"padding": "x".repeat(bytes)}),
        None => serde_json::json!({}),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn padding_takes_the_bytes_it_is_told() {
        for bytes in [14, 15, 200] {
            assert_eq!(super::padding(bytes).to_string().len(), bytes);
        }
        assert_eq!(super::padding(0).to_string(), "{}");
    }
}
