//! `bpc keys rotate` and `bpc keys reopen`.

use bpc_testkit::{DatabaseKind, on_both_databases};

use crate::harness::{enqueue, error, text};

use super::common::{check, file, sealed, vkey};

on_both_databases! {
    async fn a_rotated_key_signs_from_then_on_and_what_was_kept_still_counts(db) {
        let (bpc, _) = sealed(&db);
        let old = vkey(&bpc);
        let kept = file(&bpc, "kept.txt", bpc.run(["checkpoint"]).expect_success().stdout);
        let told = bpc.run(["keys", "rotate", "--json"]).expect_success().json();
        let new = vkey(&bpc);
        assert_ne!(old, new);
        let keys = bpc.run(["keys", "list", "--json"]).expect_success().json_lines();
        let standings: Vec<_> = keys.iter().map(|key| (text(key, "standing"), key["in_use"] == true)).collect();
        assert_eq!(standings, [("first".to_owned(), false), ("handed_over".to_owned(), true)]);
        assert_eq!(told["public_key"], keys[1]["public_key"]);

        enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        bpc.run(["worker", "--until-idle"]).expect_success();
        bpc.run(["seal", "--once"]).expect_success();
        let verified = bpc.run(["verify", "--checkpoint", "kept.txt", "--key", &old, "--json"]).expect_success().json();
        assert_eq!((&verified["held"], &verified["unsealed"]), (&"L2".into(), &0.into()), "{verified}");
        let newest = file(&bpc, "newest.txt", bpc.run(["checkpoint"]).expect_success().stdout);
        check(&[newest.to_str().unwrap(), "--key", &new]).expect_success();
        assert_eq!(error(&check(&[newest.to_str().unwrap(), "--key", &old]).expect_code(1)).0, "NOTE_NOT_SIGNED");
        let since = file(&bpc, "since.txt", bpc.run(["checkpoint", "--since", "kept.txt"]).expect_success().stdout);
        let both = [since.to_str().unwrap(), "--since", kept.to_str().unwrap(), "--key", &old, "--key", &new];
        check(&both).expect_success();
    }

    async fn an_older_copy_goes_on_only_under_a_new_name_that_tells(db) {
        if db.kind() != DatabaseKind::Sqlite {
            return;
        }
        let (bpc, _) = sealed(&db);
        let path = db.path().unwrap();
        let backup = std::fs::read(path).unwrap();
        enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        bpc.run(["seal", "--once"]).expect_success();
        let kept = file(&bpc, "kept.txt", bpc.run(["checkpoint"]).expect_success().stdout);
        std::fs::write(path, backup).unwrap();
        for extra in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{extra}", path.display()));
        }
        assert_eq!(error(&bpc.run(["seal", "--once", "--json"]).expect_code(1)).0, "LOG_ROLLED_BACK");
        let told = bpc.run(["keys", "reopen", "--origin", "example.org/orders-2", "--json"]).expect_success().json();
        assert_eq!(told["origin"], "example.org/orders-2");
        bpc.run(["worker", "--until-idle"]).expect_success();
        let verified = bpc.run(["verify", "--json"]).expect_success().json();
        assert_eq!(verified["reopened"][0]["origin"], "example.org/orders-2", "{verified}");
        assert_eq!(verified["reopened"][0]["is_vouched"], true, "{verified}");
        // Whoever kept a checkpoint of what was lost is told.
        let kept = kept.to_str().unwrap();
        let verified = bpc.run(["verify", "--checkpoint", kept, "--json"]).expect_code(1).json();
        assert_eq!(verified["findings"][0]["code"], "LOG_TRUNCATED", "{verified}");
    }
}
