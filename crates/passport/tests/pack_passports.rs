//! From documents to passports in force through the engine, on both databases.

mod house;

use bpc_passport::disclosure::{Role, verify};
use bpc_passport::pack::{
    BuildSnapshot, CompilePassport, GenerateQr, ParseFacts, PassportVersion, SignPassport, VersionStatus,
    activate, disclose, passport, passport_version, replay_version, revoke, stored_bytes, what_if,
};
use bpc_passport::qr::ProofCode;
use bpc_passport::receipt::SigningKey;
use bpc_passport::rules::{EmissionState, Verdict};
use bpc_testkit::on_both_databases;
use bpc_worker::Status;
use house::desk::{Desk, pack, settings};
use house::{ACTOR, Twice};
use serde_json::json;
use uuid::Uuid;

/// What a phone would read.
fn scan(png: &[u8]) -> Vec<String> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a PNG");
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut pixels).expect("a picture");
    let row_bytes = width.div_ceil(8);
    let light = |x: usize, y: usize| pixels[y * row_bytes + x / 8] >> (7 - x % 8) & 1 == 1;
    let mut image =
        rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| if light(x, y) { 255 } else { 0 });
    image.detect_grids().iter().map(|grid| grid.decode().expect("a code").1).collect()
}

async fn status_of(desk: &Desk, id: Uuid) -> VersionStatus {
    passport_version(&desk.house.engine.store, desk.house.tenant, id).await.expect("a version").status
}

async fn assert_replays(desk: &Desk, version: &PassportVersion) {
    let (store, tenant) = (&desk.house.engine.store, desk.house.tenant);
    let (_, again) = replay_version(store, tenant, &desk.settings, version.id).await.expect("the same bytes");
    assert_eq!(again.payload_hash, version.payload_hash);
    assert_eq!(again.receipt_hash, version.receipt_hash);
}

on_both_databases! {
    async fn documents_become_a_passport_in_force_and_its_codes_scan_back(db) {
        let desk = Desk::on(&db).await;
        let (engine, tenant) = (&desk.house.engine, desk.house.tenant);
        let version = desk.compiled("2027-03-01").await;
        assert_eq!(version.status, VersionStatus::Signed);
        let qr = version.qr.clone().expect("codes");
        let picture = stored_bytes(&engine.store, qr.png).await.expect("a picture");
        assert_eq!(scan(&picture), std::slice::from_ref(&qr.text));
        let code: ProofCode = qr.text.parse().expect("a proof code");
        assert_eq!(
            (code.passport_version, code.payload_hash, code.proof_root, code.receipt_hash),
            (version.id, version.payload_hash, version.proof_root, version.receipt_hash)
        );
        let picture = stored_bytes(&engine.store, qr.link_png).await.expect("a picture");
        assert_eq!(scan(&picture), std::slice::from_ref(&qr.link));
        assert!(qr.link.starts_with("https://") && qr.link.len() <= 50, "{}", qr.link);
        assert_eq!(activate(engine, tenant, ACTOR, version.id).await.expect("activated"), None);
        assert_eq!(status_of(&desk, version.id).await, VersionStatus::Active);
        let passport = passport(&engine.store, tenant, desk.passport).await.expect("a passport");
        assert_eq!(passport.active_version, Some(version.id));
        assert_replays(&desk, &version).await;
        desk.house.assert_sound().await;
    }

    async fn every_role_gets_a_bundle_that_holds_against_the_stored_key(db) {
        let desk = Desk::on(&db).await;
        let (store, tenant) = (&desk.house.engine.store, desk.house.tenant);
        let version = desk.compiled("2027-03-01").await;
        let key = SigningKey::from_seed(&[3; 32]).public_key();
        for role in [Role::Public, Role::LegitimateInterest, Role::Authority] {
            let bundle = disclose(store, tenant, &desk.settings, version.id, role).await.expect("a bundle");
            let verified = verify(bundle.canonical().as_bytes(), &key).expect("it holds");
            assert_eq!(verified.receipt_hash, version.receipt_hash);
            assert!(verify(bundle.canonical().as_bytes(), &[1; 32]).is_err());
        }
        let keys: Vec<(String, Vec<u8>)> = {
            let mut tx = store.begin_read().await.expect("a transaction");
            let sql = "SELECT key_id, public_key FROM signing_keys";
            bpc_eventstore::portable!(tx.conn(), c => sqlx::query_as(sql).fetch_all(c).await).expect("keys")
        };
        assert_eq!(keys, [(version.signing_key_id.clone(), key.to_vec())]);
    }

    async fn each_handler_run_twice_does_what_it_does_once(db) {
        let settings = settings(3);
        let mut registry = pack(&settings);
        registry.replace_job(Twice(ParseFacts)).replace_job(Twice(BuildSnapshot));
        registry.replace_job(Twice(CompilePassport::new(settings.clone())));
        registry.replace_job(Twice(SignPassport::new(settings.clone())));
        registry.replace_job(Twice(GenerateQr::new(settings.clone())));
        let desk = Desk::with(&db, settings, registry).await;
        let version = desk.compiled("2027-03-01").await;
        // And once more as other jobs, after the first have settled.
        let id = json!({"passport_version_id": version.id});
        let again = [desk.house.enqueue("SIGN_PASSPORT", &id).await, desk.house.enqueue("GENERATE_QR", &id).await];
        desk.house.work().await;
        for job in again {
            assert_eq!(desk.house.history(job).await.job.status(), Status::Succeeded);
        }
        let after = passport_version(&desk.house.engine.store, desk.house.tenant, version.id).await;
        let after = after.expect("a version");
        assert_eq!((after.version, after.status, after.qr), (version.version, version.status, version.qr.clone()));
        desk.house.assert_sound().await;
    }

    async fn a_later_version_takes_the_place_of_the_first(db) {
        let desk = Desk::on(&db).await;
        let (engine, tenant) = (&desk.house.engine, desk.house.tenant);
        let first = desk.compiled("2027-02-18").await;
        activate(engine, tenant, ACTOR, first.id).await.expect("activated");
        let second = desk.compiled("2027-03-01").await;
        assert_eq!(activate(engine, tenant, ACTOR, second.id).await.expect("activated"), Some(first.id));
        assert_eq!(status_of(&desk, first.id).await, VersionStatus::Superseded);
        let refused = activate(engine, tenant, ACTOR, first.id).await.expect_err("superseded");
        assert_eq!(refused.code(), "INVALID_PASSPORT_STATUS");
        // Old versions stay checkable.
        assert_replays(&desk, &first).await;
        revoke(engine, tenant, ACTOR, second.id, "wrong cells").await.expect("revoked");
        let passport = passport(&engine.store, tenant, desk.passport).await.expect("a passport");
        assert_eq!(passport.active_version, None);
        let refused = revoke(engine, tenant, ACTOR, second.id, "again").await.expect_err("revoked already");
        assert_eq!(refused.code(), "INVALID_PASSPORT_STATUS");
        revoke(engine, tenant, ACTOR, first.id, "that one too").await.expect("revoked");
        desk.house.assert_sound().await;
    }

    async fn two_compiles_that_race_for_one_passport_both_end_and_one_is_put_in_force(db) {
        let desk = Desk::on(&db).await;
        let (engine, tenant) = (&desk.house.engine, desk.house.tenant);
        let mut jobs = Vec::new();
        for day in ["2027-02-18", "2027-03-01"] {
            let as_of = Some(day.parse().expect("a day"));
            let order = bpc_passport::pack::CompileOrder { as_of, ..desk.order() };
            let ordered =
                bpc_passport::pack::compile_passport(engine, tenant, ACTOR, &desk.settings, order).await;
            jobs.push(ordered.expect("ordered"));
        }
        desk.house.work_together(3).await;
        let (one, two) = (desk.version_of(jobs[0]).await, desk.version_of(jobs[1]).await);
        assert_ne!(one.id, two.id);
        let (a, b) = tokio::join!(
            activate(engine, tenant, ACTOR, one.id),
            activate(engine, tenant, ACTOR, two.id)
        );
        assert_eq!([a.is_ok(), b.is_ok()].into_iter().filter(|ok| *ok).count(), 1, "{a:?} {b:?}");
        let refused = a.err().or(b.err()).expect("one is refused");
        assert_eq!(refused.code(), "INVALID_PASSPORT_STATUS");
        let statuses = [status_of(&desk, one.id).await, status_of(&desk, two.id).await];
        assert!(statuses.contains(&VersionStatus::Active) && statuses.contains(&VersionStatus::Signed));
        desk.house.assert_sound().await;
    }

    async fn the_same_order_from_two_jobs_is_one_version(db) {
        let desk = Desk::on(&db).await;
        let payload = json!({
            "passport_id": desk.passport, "snapshot_id": desk.snapshot, "rule_package_version_id": desk.rules,
            "issued_at": "2027-02-18T08:00:00.000000Z", "as_of": "2027-03-01", "build_id": "b",
            "signing_key_id": SigningKey::from_seed(&[3; 32]).id(),
        });
        let mut jobs = Vec::new();
        for _ in 0..6 {
            jobs.push(desk.house.enqueue("COMPILE_PASSPORT", &payload).await);
        }
        desk.house.work_together(3).await;
        // Whoever lost the race decides again on what is there now.
        desk.house.work_through().await;
        let first = desk.version_of(jobs[0]).await;
        for job in jobs {
            assert_eq!(desk.version_of(job).await.id, first.id);
        }
        assert_eq!(first.status, VersionStatus::Signed);
        desk.house.assert_sound().await;
    }

    async fn whichever_commit_fails_the_passport_is_the_same(db) {
        let desk = Desk::on(&db).await;
        let fault = desk.house.engine.store.fault.clone();
        let mut commits = 0;
        'all: loop {
            for persisted in [false, true] {
                let payload = json!({
                    "passport_id": desk.passport, "snapshot_id": desk.snapshot,
                    "rule_package_version_id": desk.rules, "as_of": "2027-03-01", "build_id": "b",
                    "issued_at": format!("2027-02-18T08:00:00.{:06}Z", commits * 2 + u32::from(persisted)),
                    "signing_key_id": SigningKey::from_seed(&[3; 32]).id(),
                });
                let job = desk.house.enqueue("COMPILE_PASSPORT", &payload).await;
                match persisted {
                    false => fault.fail_not_persisted(commits),
                    true => fault.fail_but_persisted(commits),
                }
                desk.house.work_through().await;
                let version = desk.version_of(job).await;
                assert_eq!(version.status, VersionStatus::Signed, "commit {commits}");
                assert!(version.qr.is_some(), "commit {commits}");
                assert_replays(&desk, &version).await;
                if !fault.is_spent() || commits >= 8 {
                    break 'all;
                }
            }
            commits += 1;
        }
        assert!(commits >= 4, "only {commits} commits");
        desk.house.assert_sound().await;
    }

    async fn another_day_shows_what_begins_and_writes_nothing(db) {
        let desk = Desk::on(&db).await;
        let (store, tenant) = (&desk.house.engine.store, desk.house.tenant);
        let version = desk.compiled("2027-02-18").await;
        let later = Some("2027-03-01".parse().expect("a day"));
        let (now, then) =
            what_if(store, tenant, &desk.settings, version.id, later, None).await.expect("judged");
        let mass = |it: &bpc_passport::pack::Compilation| it.results.emission("/battery/mass").cloned();
        assert!(matches!(mass(&now).expect("an emission").state, EmissionState::Held { .. }));
        assert!(matches!(mass(&then).expect("an emission").state, EmissionState::Shown(_)));
        let early = Some("2027-02-17".parse().expect("a day"));
        let (_, then) = what_if(store, tenant, &desk.settings, version.id, early, None).await.expect("judged");
        let rule = then.results.rule("MASS.LEAST").expect("the rule");
        assert_eq!(rule.outcome.verdict, Verdict::NotYet);
        let after = passport_version(store, tenant, version.id).await.expect("a version");
        assert_eq!(after.version, version.version);
    }
}
