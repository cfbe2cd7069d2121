//! What the pack refuses, by which name, and that nothing is half-written then; on both databases.

mod house;

use bpc_passport::import::DocumentKind;
use bpc_passport::pack::{
    CompileOrder, Settings, SigningKeySource, activate, add_rules, add_to_snapshot, build_snapshot,
    compile_passport, create_passport, create_snapshot, disclose, document, passport_version, publish_rules,
    rule_version, seal_snapshot, snapshot,
};
use bpc_passport::rules::Sources;
use bpc_testkit::on_both_databases;
use bpc_worker::{Engine, Status, Worker, WorkerOptions};
use house::desk::{Desk, EV, NOBODY, RULES, begun, pack, ready, settings};
use house::{ACTOR, House, sample};
use serde_json::json;
use tokio_util::sync::CancellationToken;

on_both_databases! {
    async fn jobs_about_unknown_things_fail_for_good_with_their_codes(db) {
        let settings = settings(3);
        let house = House::with(&db, pack(&settings)).await;
        let version = json!({"passport_version_id": NOBODY});
        let order =
            json!({"passport_id": NOBODY, "snapshot_id": NOBODY, "rule_package_version_id": NOBODY});
        let rules = json!({"rule_package_version_id": NOBODY, "seed": 1});
        let table = [
            ("PARSE_FACTS", json!({"document_version_id": NOBODY}), "DOCUMENT_NOT_FOUND"),
            ("BUILD_SNAPSHOT", json!({"snapshot_id": NOBODY}), "SNAPSHOT_NOT_FOUND"),
            ("COMPILE_PASSPORT", order, "PASSPORT_NOT_FOUND"),
            ("SIGN_PASSPORT", version.clone(), "PASSPORT_VERSION_NOT_FOUND"),
            ("GENERATE_QR", version, "PASSPORT_VERSION_NOT_FOUND"),
            ("RUN_RULE_TESTS", rules, "RULE_PKG_NOT_FOUND"),
            ("SIGN_PASSPORT", json!({"version": 1}), "VALIDATION_ERROR"),
            ("RUN_RULE_TESTS", json!({"rule_package_version_id": NOBODY}), "VALIDATION_ERROR"),
        ];
        for (job_type, payload, code) in table {
            let job = house.enqueue(job_type, &payload).await;
            house.work().await;
            assert_eq!(house.error_code(job).await, code, "{job_type} {payload}");
            assert_eq!(house.history(job).await.job.status(), Status::Failed);
        }
        house.assert_sound().await;
    }

    async fn commands_about_unknown_things_are_refused(db) {
        let settings = settings(3);
        let house = House::with(&db, pack(&settings)).await;
        let (engine, store, tenant) = (&house.engine, &house.engine.store, house.tenant);
        let codes = [
            document(store, tenant, NOBODY).await.expect_err("none").code(),
            snapshot(store, tenant, NOBODY).await.expect_err("none").code(),
            rule_version(store, tenant, NOBODY).await.expect_err("none").code(),
            passport_version(store, tenant, NOBODY).await.expect_err("none").code(),
            create_passport(engine, tenant, ACTOR, NOBODY).await.expect_err("none").code(),
            activate(engine, tenant, ACTOR, NOBODY).await.expect_err("none").code(),
            publish_rules(engine, tenant, ACTOR, NOBODY).await.expect_err("none").code(),
            create_snapshot(engine, tenant, ACTOR, "x", &[NOBODY]).await.expect_err("none").code(),
        ];
        assert_eq!(codes, [
            "DOCUMENT_NOT_FOUND", "SNAPSHOT_NOT_FOUND", "RULE_PKG_NOT_FOUND", "PASSPORT_VERSION_NOT_FOUND",
            "PRODUCT_NOT_FOUND", "PASSPORT_VERSION_NOT_FOUND", "RULE_PKG_NOT_FOUND", "DOCUMENT_NOT_FOUND",
        ]);
    }

    async fn a_snapshot_goes_one_way(db) {
        let settings = settings(3);
        let house = House::with(&db, pack(&settings)).await;
        let (engine, tenant) = (&house.engine, house.tenant);
        let added = house.upload("ev.json", DocumentKind::Bom, &sample(EV)).await;
        let early = create_snapshot(engine, tenant, ACTOR, "early", &[added.id]).await.expect_err("unparsed");
        assert_eq!(early.code(), "VALIDATION_ERROR");
        house.work().await;
        let empty = create_snapshot(engine, tenant, ACTOR, "empty", &[]).await.expect("a snapshot");
        let unready = seal_snapshot(engine, tenant, ACTOR, &settings, empty).await.expect_err("not built");
        assert_eq!(unready.code(), "SNAPSHOT_NOT_READY");
        build_snapshot(engine, tenant, ACTOR, empty).await.expect("ordered");
        house.work().await;
        let full = add_to_snapshot(engine, tenant, ACTOR, empty, added.id, &[]).await.expect_err("ready");
        assert_eq!(full.code(), "INVALID_SNAPSHOT_STATE");
        let seal = seal_snapshot(engine, tenant, ACTOR, &settings, empty).await.expect("an empty one is allowed");
        assert_eq!(seal.items, 0);
        let again = seal_snapshot(engine, tenant, ACTOR, &settings, empty).await.expect_err("sealed");
        let add = add_to_snapshot(engine, tenant, ACTOR, empty, added.id, &[]).await.expect_err("sealed");
        assert_eq!([again.code(), add.code()], ["SNAPSHOT_SEALED"; 2]);
        let job = house.enqueue("BUILD_SNAPSHOT", &json!({"snapshot_id": empty})).await;
        house.work().await;
        assert_eq!(house.error_code(job).await, "SNAPSHOT_SEALED");
        house.assert_sound().await;
    }

    async fn two_payloads_for_one_fact_are_a_conflict(db) {
        let settings = settings(3);
        let house = House::with(&db, pack(&settings)).await;
        let (engine, tenant) = (&house.engine, house.tenant);
        let other = String::from_utf8(sample(EV)).expect("UTF-8").replace("450", "451");
        let one = house.upload("one.json", DocumentKind::Bom, &sample(EV)).await;
        let two = house.upload("two.json", DocumentKind::Bom, other.as_bytes()).await;
        house.work().await;
        let id = create_snapshot(engine, tenant, ACTOR, "both", &[one.id, two.id]).await.expect("a snapshot");
        let job = build_snapshot(engine, tenant, ACTOR, id).await.expect("ordered");
        house.work().await;
        assert_eq!(house.error_code(job).await, "SNAPSHOT_CONFLICT");
        let state = snapshot(&engine.store, tenant, id).await.expect("a snapshot");
        assert_eq!(state.status.as_str(), "BUILDING");
        house.assert_sound().await;
    }

    async fn only_sealed_facts_and_published_rules_are_compiled(db) {
        let settings = settings(3);
        let house = House::with(&db, pack(&settings)).await;
        let (engine, tenant) = (&house.engine, house.tenant);
        let snapshot_id = ready(&house).await;
        let sources = Sources::single("small.rules", RULES);
        let added = add_rules(engine, tenant, ACTOR, &sources, 1).await.expect("added");
        engine.cancel(tenant, ACTOR, added.job_id.expect("a job"), None).await.expect("cancelled");
        let draft = publish_rules(engine, tenant, ACTOR, added.id).await.expect_err("not tested");
        assert_eq!(draft.code(), "RULE_TESTS_FAILED");
        let passport_id = begun(&house, "09521234010012").await;
        let order = CompileOrder { passport_id, snapshot_id, rule_version_id: added.id, as_of: None };
        let unsealed = compile_passport(engine, tenant, ACTOR, &settings, order).await.expect_err("unsealed");
        assert_eq!(unsealed.code(), "SNAPSHOT_NOT_READY");
        seal_snapshot(engine, tenant, ACTOR, &settings, snapshot_id).await.expect("sealed");
        let draft = compile_passport(engine, tenant, ACTOR, &settings, order).await.expect_err("a draft");
        assert_eq!(draft.code(), "RULE_PKG_NOT_PUBLISHED");
        // The handler checks again: between order and work things may change.
        let payload = json!({"passport_id": passport_id, "snapshot_id": snapshot_id,
                             "rule_package_version_id": added.id});
        let job = house.enqueue("COMPILE_PASSPORT", &payload).await;
        house.work().await;
        assert_eq!(house.error_code(job).await, "RULE_PKG_NOT_PUBLISHED");
        house.assert_sound().await;
    }

    async fn a_must_rule_that_cannot_be_judged_blocks_and_nothing_is_written(db) {
        let desk = Desk::on(&db).await;
        let (engine, tenant) = (&desk.house.engine, desk.house.tenant);
        let passport_id = begun(&desk.house, "SOMETHING-ELSE").await;
        let order = CompileOrder { passport_id, ..desk.order() };
        let job = compile_passport(engine, tenant, ACTOR, &desk.settings, order).await.expect("ordered");
        desk.house.work().await;
        assert_eq!(desk.house.error_code(job).await, "COMPILE_BLOCKED");
        assert_eq!(versions(&desk.house).await, 0);
        desk.house.assert_sound().await;
    }

    async fn what_is_over_its_limit_is_refused_by_name(db) {
        let desk = Desk::on(&db).await;
        let (engine, tenant) = (&desk.house.engine, desk.house.tenant);
        for (which, code) in [(0, "PAYLOAD_TOO_LARGE"), (1, "PROOF_TOO_LARGE"), (2, "RECEIPT_TOO_LARGE")] {
            let mut narrow = desk.settings.clone();
            let limits =
                [&mut narrow.payload_bytes_max, &mut narrow.proof_bytes_max, &mut narrow.receipt_bytes_max];
            *limits.into_iter().nth(which).expect("a limit") = 40;
            let ordered = compile_passport(engine, tenant, ACTOR, &desk.settings, desk.order()).await;
            let job = ordered.expect("ordered");
            work_with(&desk.house, &narrow).await;
            assert_eq!(desk.house.error_code(job).await, code);
        }
        assert_eq!(versions(&desk.house).await, 0);
        desk.house.assert_sound().await;
    }

    async fn without_its_key_nothing_is_signed_and_the_error_says_what_to_set(db) {
        let desk = Desk::on(&db).await;
        let (engine, tenant) = (&desk.house.engine, desk.house.tenant);
        let mut keyless = desk.settings.clone();
        keyless.signing_key = SigningKeySource::None;
        let refused = compile_passport(engine, tenant, ACTOR, &keyless, desk.order()).await.expect_err("no key");
        assert_eq!(refused.code(), "SIGNING_KEY_MISSING");
        assert!(refused.to_string().contains("BPC_SIGNING_ED25519_PRIVATE_KEY_BASE64"), "{refused}");
        let mut wrong = keyless.clone();
        wrong.signing_key = SigningKeySource::Base64("c2hvcnQ=".to_owned());
        let refused = compile_passport(engine, tenant, ACTOR, &wrong, desk.order()).await.expect_err("no key");
        assert_eq!(refused.code(), "INVALID_SIGNING_KEY");
        assert!(!refused.to_string().contains("c2hvcnQ"), "{refused}");
        // Compiled for one key; workers with none, with half of one and with another do not sign.
        let job = compile_passport(engine, tenant, ACTOR, &desk.settings, desk.order()).await.expect("ordered");
        let mut sign = None;
        for (worker, code) in [
            (keyless, "SIGNING_KEY_MISSING"),
            (wrong, "INVALID_SIGNING_KEY"),
            (settings(4), "INVALID_SIGNING_KEY"),
        ] {
            let mut worker = worker;
            worker.secrets = desk.settings.secrets.clone();
            work_with(&desk.house, &worker).await;
            let version = desk.version_of(job).await;
            assert_eq!(version.status.as_str(), "COMPILING");
            let key = format!("sign-{}", version.id);
            let id = bpc_worker::JobId::from_key(tenant, "SIGN_PASSPORT", &key);
            assert_eq!(desk.house.error_code(id).await, code);
            desk.house.engine.replay(tenant, ACTOR, id, "another key".to_owned()).await.expect("again");
            sign = Some(id);
        }
        // The right key, at last.
        desk.house.work().await;
        assert_eq!(desk.house.history(sign.expect("a job")).await.job.status(), Status::Succeeded);
        assert_eq!(desk.version_of(job).await.status.as_str(), "SIGNED");
        desk.house.assert_sound().await;
    }

    async fn a_version_that_is_not_signed_shows_and_activates_nothing(db) {
        let desk = Desk::on(&db).await;
        let (engine, store, tenant) = (&desk.house.engine, &desk.house.engine.store, desk.house.tenant);
        let job = compile_passport(engine, tenant, ACTOR, &desk.settings, desk.order()).await.expect("ordered");
        let mut keyless = desk.settings.clone();
        keyless.signing_key = SigningKeySource::None;
        work_with(&desk.house, &keyless).await;
        let version = desk.version_of(job).await;
        let role = bpc_passport::disclosure::Role::Public;
        let shown = disclose(store, tenant, &desk.settings, version.id, role).await.expect_err("unsigned");
        let activated = activate(engine, tenant, ACTOR, version.id).await.expect_err("unsigned");
        assert_eq!([shown.code(), activated.code()], ["INVALID_PASSPORT_STATUS"; 2]);
        let job = desk.house.enqueue("GENERATE_QR", &json!({"passport_version_id": version.id})).await;
        desk.house.work().await;
        assert_eq!(desk.house.error_code(job).await, "INVALID_PASSPORT_STATUS");
        bpc_passport::pack::revoke(engine, tenant, ACTOR, version.id, "never mind").await.expect("revoked");
        let job = desk.house.enqueue("SIGN_PASSPORT", &json!({"passport_version_id": version.id})).await;
        desk.house.work().await;
        assert_eq!(desk.house.error_code(job).await, "INVALID_PASSPORT_STATUS");
        desk.house.assert_sound().await;
    }

    async fn neither_log_nor_settings_show_a_secret(db) {
        let desk = Desk::on(&db).await;
        desk.compiled("2027-03-01").await;
        let SigningKeySource::Base64(seed) = &desk.settings.signing_key else { panic!("a seed") };
        assert!(!format!("{:?}", desk.settings).contains(seed.as_str()));
        let mut tx = desk.house.engine.store.begin_read().await.expect("a transaction");
        let events: Vec<Vec<u8>> = bpc_eventstore::portable!(tx.conn(), c => {
            sqlx::query_scalar("SELECT event_bytes FROM log_events").fetch_all(c).await
        })
        .expect("events");
        assert!(events.iter().all(|bytes| !String::from_utf8_lossy(bytes).contains(seed.as_str())));
        // Another secrets key opens nothing.
        let mut other = desk.settings.clone();
        other.secrets = settings(3).secrets;
        let store = &desk.house.engine.store;
        let rows = bpc_passport::pack::passports(store, desk.house.tenant, 10).await.expect("passports");
        let id = rows[0].version_id.expect("a version");
        let refused = bpc_passport::pack::replay_version(store, desk.house.tenant, &other, id).await;
        assert_eq!(refused.expect_err("another key").code(), "SECRETS_KEY_INVALID");
    }
}

/// A worker that was told something else.
async fn work_with(house: &House, settings: &Settings) {
    let engine = Engine::new(house.engine.store.clone(), pack(settings));
    let options = WorkerOptions { until_idle: true, ..WorkerOptions::named("other") };
    Worker::new(engine, options).run(CancellationToken::new()).await.expect("a worker");
}

async fn versions(house: &House) -> i64 {
    let mut tx = house.engine.store.begin_read().await.expect("a transaction");
    let sql = "SELECT count(*) FROM passport_versions";
    bpc_eventstore::portable!(tx.conn(), c => sqlx::query_scalar(sql).fetch_one(c).await).expect("a number")
}
