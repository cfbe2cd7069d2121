//! How fast a log in a database is verified here:
//!
//! ```sh
//! cargo run --release -p bpc-eventstore --example verify -- postgres://USER@HOST/NAME [RUNS]
//! ```
//!
//! Beside the time that passed stands the time that cores worked for this process; what a server did is not in it.

use std::time::Instant;

use bpc_eventstore::verify::{VerifyOptions, verify};
use bpc_eventstore::{Store, StoreOptions};
use bpc_testkit::used::{cpu_seconds, memory_max};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().expect("the URL of a database");
    let runs: usize = arguments.next().map_or(3, |text| text.parse().expect("a number of runs"));
    let store = Store::connect(&url, StoreOptions::default()).await.expect("a database");
    for _ in 0..runs {
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let report = verify(&store, &VerifyOptions::default(), |_| {}).await.expect("it could be checked");
        let (elapsed, cpu) = (start.elapsed(), cpu_seconds() - cpu);
        assert!(report.is_sound(), "{:#?}", report.findings);
        let rate = report.events as f64 / elapsed.as_secs_f64() / 1e3;
        let work = cpu * 1e9 / report.events as f64;
        println!(
            "{} events: {rate:.0} thousand a second ({elapsed:.2?}); {work:.0} ns of a core each",
            report.events
        );
    }
    println!("most memory used: {} MB", memory_max() / 1024);
}
