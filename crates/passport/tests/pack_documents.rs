//! Documents through the engine: uploaded, parsed, listed, on both databases.

mod house;

use bpc_core::Status;
use bpc_passport::import::DocumentKind;
use bpc_passport::pack::{
    DocumentStatus, FactFilter, NewDocument, ParseFacts, Settings, add_document, document, documents, facts,
    register, stated_facts,
};
use bpc_secrets::{KeySource, SecretsKey};
use bpc_worker::Registry;
use house::{ACTOR, House, Twice, sample};
use serde_json::json;

const EV: &str = "batterypass-ready/ev.gefeg.json";

fn pack() -> Registry {
    let mut registry = Registry::new();
    register(&mut registry, &Settings::new(KeySource::Key(SecretsKey::generate())));
    registry
}

bpc_testkit::on_both_databases! {
    async fn a_document_becomes_facts_with_the_place_of_every_field(db) {
        let house = House::with(&db, pack()).await;
        let added = house.upload("ev.json", DocumentKind::Bom, &sample(EV)).await;
        house.work().await;
        let (store, tenant) = (&house.engine.store, house.tenant);
        let document = document(store, tenant, added.id).await.expect("a document");
        assert_eq!(document.status, DocumentStatus::Validated);
        let rows = facts(store, tenant, &FactFilter::default(), 1000).await.expect("facts");
        assert_eq!(rows.len(), document.fact_count());
        let stated = stated_facts(store, &document).await.expect("facts");
        for row in &rows {
            let stated = &stated[row.place as usize];
            assert_eq!(stated.fact.payload_hash(), row.payload_hash);
            assert_eq!(stated.fact.key(), row.key);
            assert!(stated.sources.values().all(|pointer| pointer.is_empty() || pointer.starts_with('/')));
        }
        assert!(rows.iter().any(|row| row.fact_type == "Battery"));
        house.assert_sound().await;
    }

    /// More facts than one event holds: they are counted through all events.
    async fn many_facts_keep_their_places(db) {
        let house = House::with(&db, pack()).await;
        let fact = |number: u32| {
            let key = format!("renewable:A-BATTERY-WITH-A-LONG-NAME-{number}/A-PLANT-WITH-A-LONG-NAME/2027");
            json!({"type": "Renewable", "key": key, "fields": {"share": {"u": "pct", "v": "3"}}})
        };
        let facts_of: Vec<_> = (0..1500).map(fact).collect();
        let bytes = serde_json::to_vec(&json!({"facts": facts_of})).expect("JSON");
        let added = house.upload("many.json", DocumentKind::Bom, &bytes).await;
        house.work().await;
        let (store, tenant) = (&house.engine.store, house.tenant);
        let document = document(store, tenant, added.id).await.expect("a document");
        assert_eq!((document.status, document.fact_count()), (DocumentStatus::Validated, 1500), "{:?}", document.problems);
        assert!(document.version.0 > 2, "there are two events of facts");
        let mut rows = facts(store, tenant, &FactFilter::default(), 2000).await.expect("facts");
        rows.sort_by_key(|row| row.place);
        let stated = stated_facts(store, &document).await.expect("facts");
        assert_eq!(rows.len(), stated.len());
        for (place, (row, stated)) in rows.iter().zip(&stated).enumerate() {
            assert_eq!((row.place, row.key.as_str(), row.payload_hash), (place as i64, stated.fact.key(), stated.fact.payload_hash()));
        }
        house.assert_sound().await;
    }

    async fn the_same_document_again_is_the_same_document(db) {
        let house = House::with(&db, pack()).await;
        let first = house.upload("ev.json", DocumentKind::Bom, &sample(EV)).await;
        let again = house.upload("other-name.json", DocumentKind::Bom, &sample(EV)).await;
        assert!(first.created && !again.created);
        assert_eq!((first.id, first.job_id), (again.id, again.job_id));
        let other_kind = house.upload("ev.json", DocumentKind::Pcf, &sample(EV)).await;
        assert!(other_kind.created && other_kind.id != first.id);
        house.work().await;
        let rows = documents(&house.engine.store, house.tenant, 10).await.expect("documents");
        assert_eq!(rows.len(), 2);
        house.assert_sound().await;
    }

    async fn a_document_with_problems_is_rejected_with_all_of_them(db) {
        let house = House::with(&db, pack()).await;
        let bytes = br#"{"facts":[{"type":"Battery","key":"battery:X","category":"nuclear"},{"type":"Nonsense"}]}"#;
        let added = house.upload("bad.json", DocumentKind::Bom, bytes).await;
        let broken = house.upload("broken.json", DocumentKind::Bom, b"{\"facts\":").await;
        house.work().await;
        for (id, at_least) in [(added.id, 2), (broken.id, 1)] {
            let document = document(&house.engine.store, house.tenant, id).await.expect("a document");
            assert_eq!(document.status, DocumentStatus::Rejected);
            assert!(document.problems_total >= at_least, "{:?}", document.problems);
            assert_eq!(document.problems.len() as u64, document.problems_total);
        }
        assert_eq!(house.history(added.job_id.expect("a job")).await.job.status(), Status::Succeeded);
        let none = facts(&house.engine.store, house.tenant, &FactFilter::default(), 10).await.expect("facts");
        assert!(none.is_empty());
        house.assert_sound().await;
    }

    async fn unknown_documents_and_kinds_fail_for_good_with_their_codes(db) {
        let house = House::with(&db, pack()).await;
        let nobody = json!({"document_version_id": "00000000-0000-8000-8000-000000000001"});
        let missing = house.enqueue("PARSE_FACTS", &nobody).await;
        let other = house.upload("photo.png", DocumentKind::Other, b"\x89PNG").await;
        assert_eq!(other.job_id, None);
        let unsupported = house.enqueue("PARSE_FACTS", &json!({"document_version_id": other.id})).await;
        let senseless = house.enqueue("PARSE_FACTS", &json!({"document": 1})).await;
        house.work().await;
        assert_eq!(house.error_code(missing).await, "DOCUMENT_NOT_FOUND");
        assert_eq!(house.error_code(unsupported).await, "UNSUPPORTED_DOCUMENT_KIND");
        assert_eq!(house.error_code(senseless).await, "VALIDATION_ERROR");
        for job in [missing, unsupported, senseless] {
            assert_eq!(house.history(job).await.job.status(), Status::Failed);
        }
        let empty = NewDocument {
            name: "empty".to_owned(),
            kind: DocumentKind::Bom,
            format: bpc_passport::import::Format::Auto,
            sku: None,
            bytes: Vec::new(),
        };
        let refused = add_document(&house.engine, house.tenant, ACTOR, empty).await.expect_err("refused");
        assert_eq!(refused.code(), "VALIDATION_ERROR");
    }

    async fn parsing_twice_does_no_harm(db) {
        let mut whole = pack();
        whole.replace_job(Twice(ParseFacts));
        let house = House::with(&db, whole).await;
        let added = house.upload("ev.json", DocumentKind::Bom, &sample(EV)).await;
        house.work().await;
        // And once more as another job, after the first has settled.
        let again = house.enqueue("PARSE_FACTS", &json!({"document_version_id": added.id})).await;
        house.work().await;
        assert_eq!(house.history(again).await.job.status(), Status::Succeeded);
        let document = document(&house.engine.store, house.tenant, added.id).await.expect("a document");
        let rows = facts(&house.engine.store, house.tenant, &FactFilter::default(), 1000).await.expect("facts");
        assert_eq!(rows.len(), document.fact_count());
        house.assert_sound().await;
    }
}
