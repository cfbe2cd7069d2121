//! A job that ends every process that runs it still ends itself.

mod rehearsal;

use bpc_core::Status;
use bpc_testkit::TestDatabase;
use bpc_testkit::process::{Bpc, Output};
use bpc_worker::Enqueue;
use rehearsal::{Rehearsal, events, whole_pack};

/// What shells say of a process that aborted: 128 and SIGABRT.
const ABORTED: i32 = 134;

bpc_testkit::on_both_databases! {
    async fn a_poison_job_runs_out_of_attempts(db) {
        let rehearsal = Rehearsal::on(&db).await;
        let poison = Enqueue::from_json("DRILL_PANIC", br#"{"abort":true}"#).unwrap().max_attempts(2);
        let poison = rehearsal.engine.enqueue(rehearsal.tenant, "user:test", poison).await.unwrap().job_id;
        for _ in 0..2 {
            sacrifice(&rehearsal, &db).await.expect_code(ABORTED);
            assert_eq!(rehearsal.status(poison).await, Status::Running);
            rehearsal.wait();
            rehearsal.engine.expire(10).await.unwrap();
        }
        let history = rehearsal.history(poison).await;
        assert_eq!(history.job.status(), Status::DeadLetter);
        let ended = ["LEASED", "LEASE_EXPIRED"];
        assert_eq!(events(&history), [&["ENQUEUED"][..], &ended, &ended, &["DEAD_LETTERED"]].concat());

        let neighbour = rehearsal.enqueue("DRILL_NOOP", "{}").await;
        sacrifice(&rehearsal, &db).await.expect_success();
        assert_eq!(rehearsal.status(neighbour).await, Status::Succeeded);
    }
}

const URL: &str = "DRILL_VICTIM_URL";
const NOW: &str = "DRILL_VICTIM_NOW";

/// Work until idle in a process of its own: this program, told to run nothing but `victim`.
async fn sacrifice(rehearsal: &Rehearsal, db: &TestDatabase) -> Output {
    let this = std::env::current_exe().unwrap();
    let now = rehearsal.engine.store.now().await.unwrap();
    let victim = Bpc::without_database(this).env(URL, db.url()).env(NOW, now.to_string());
    victim.run(["--exact", "victim"])
}

/// Tests nothing by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn victim() {
    let (Ok(url), Ok(now)) = (std::env::var(URL), std::env::var(NOW)) else { return };
    Rehearsal::join(&url, whole_pack(), now.parse().unwrap()).await.work().await;
}
