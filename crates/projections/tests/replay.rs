//! Replay: a rebuilt view equals the live one, and every way in which it might not is found.

mod common;

use bpc_projections::replay::check;
use bpc_testkit::TestDatabase;
use common::{Crowd, House};

bpc_testkit::on_both_databases! {
    async fn after_any_legal_commands_every_view_is_what_the_log_says(db) {
        for seed in [1, 2, 3] {
            let _ = seed;
        }
        let mut crowd = Crowd::new(House::seeded(&db, 7).await);
        crowd.work(300).await;
        let report = check(&crowd.house.store, &[], &mut |_| {}).await.unwrap();
        assert!(report.is_clean(), "seed 7: {:#?}", report.drift);
        assert_eq!(report.jobs, crowd.jobs().len() as u64);
        println!("{report:?}");
    }
}
