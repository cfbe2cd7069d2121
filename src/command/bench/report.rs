//! What was measured.

use serde::Serialize;

use crate::output::{Output, Table, count};

use super::latency::Latencies;

/// The names are part of the contract.
#[derive(Serialize)]
pub struct BenchReport {
    pub database: &'static str,
    pub tenant: String,
    pub jobs: u64,
    pub batch: usize,
    pub workers: usize,
    pub concurrency: usize,
    pub payload_bytes: usize,
    pub enqueue_per_s: u64,
    pub process_per_s: u64,
    pub latency_ms: LatencyMillis,
    pub verify_events_per_s: u64,
    pub verify_findings: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wal_bytes_per_job: Option<i64>,
}

#[derive(Serialize)]
pub struct LatencyMillis {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

impl From<Latencies> for LatencyMillis {
    fn from(latencies: Latencies) -> Self {
        let [p50, p95, p99] = [50, 95, 99].map(|percent| latencies.percentile(percent));
        LatencyMillis { p50, p95, p99 }
    }
}

impl BenchReport {
    pub fn print(&self, output: &Output) {
        let heading = format!(
            "{} jobs of {} bytes on {}, batches of {}, {} worker(s) with {} handlers each",
            count(self.jobs),
            self.payload_bytes,
            self.database,
            self.batch,
            self.workers,
            self.concurrency
        );
        output.line(output.paint().heading(heading));
        let LatencyMillis { p50, p95, p99 } = self.latency_ms;
        let mut table = Table::new(["WHAT", ">RESULT", "UNIT"]);
        let mut row =
            |what: &str, result: String, unit: &str| table.row([what.to_owned(), result, unit.to_owned()]);
        row("enqueue", count(self.enqueue_per_s), "jobs/s");
        row("lease, run and settle", count(self.process_per_s), "jobs/s");
        row("enqueue until start, idle worker, p50", format!("{p50:.1}"), "ms");
        row("                                  p95", format!("{p95:.1}"), "ms");
        row("                                  p99", format!("{p99:.1}"), "ms");
        row("verify", count(self.verify_events_per_s), "events/s");
        if let Some(bytes) = self.wal_bytes_per_job {
            row("write-ahead log", count(bytes.unsigned_abs()), "bytes/job");
        }
        table.print(output);
        if self.verify_findings > 0 {
            let findings = count(self.verify_findings);
            output.line(output.paint().bad(format_args!("verify has {findings} findings; run `bpc verify`")));
        }
    }
}
