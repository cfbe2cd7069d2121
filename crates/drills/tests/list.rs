//! The list that people see is the list that is registered, and its examples work as they stand.

mod rehearsal;

use std::collections::BTreeSet;

use bpc_drills::DRILLS;
use rehearsal::{Rehearsal, error_code, whole_pack};

#[test]
fn every_listed_drill_is_registered_and_no_other() {
    let registry = whole_pack();
    let listed: BTreeSet<_> = DRILLS.iter().map(|drill| drill.job_type).collect();
    assert_eq!(listed, registry.type_names().collect());
    assert_eq!(listed.len(), DRILLS.len());
}

#[test]
fn every_drill_says_what_it_does_in_one_line() {
    for drill in DRILLS {
        assert!(drill.job_type.starts_with("DRILL_"), "{drill:?}");
        assert!((10..=100).contains(&drill.does.len()) && !drill.does.contains('\n'), "{drill:?}");
    }
}

bpc_testkit::on_both_databases! {
    async fn every_example_works_as_it_stands(db) {
        let rehearsal = Rehearsal::on(&db).await;
        for drill in DRILLS {
            let job = rehearsal.enqueue(drill.job_type, drill.example).await;
            let history = rehearsal.work_until_finished(job).await;
            assert_ne!(error_code(&history), "VALIDATION_ERROR", "{drill:?}");
        }
    }
}
