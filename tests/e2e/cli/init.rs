//! `bpc init`.

use std::os::unix::fs::PermissionsExt;

use bpc_testkit::{DatabaseKind, on_both_databases};

use crate::harness::{PATIENCE, assert_sound, bpc, error, finish};

on_both_databases! {
    async fn init_is_safe_to_repeat_and_keeps_its_key_to_its_owner(db) {
        let bpc = bpc(&db);
        let first = bpc.run(["init", "--json"]).expect_success().json();
        for field in ["schema_created", "tenant_created"] {
            assert_eq!(first[field], true, "{first}");
        }
        assert_eq!(first["log_key"]["created"], true);
        // Beside the file, or where it is called.
        let key_file = match db.path() {
            Some(path) => path.with_extension("db.key"),
            None => bpc.directory().join("bpc-log.key"),
        };
        let mode = std::fs::metadata(&key_file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let key = std::fs::read_to_string(&key_file).unwrap();

        let second = bpc.run(["init", "--json"]).expect_success().json();
        for field in ["schema_created", "tenant_created"] {
            assert_eq!(second[field], false, "{second}");
        }
        assert_eq!(second["log_key"]["created"], false);
        assert_eq!(first["log_key"]["public_key"], second["log_key"]["public_key"]);
        assert_eq!(first["tenant_id"], second["tenant_id"]);
        assert_eq!(std::fs::read_to_string(&key_file).unwrap(), key);
        assert!(!bpc.run(["init"]).expect_success().stdout.contains(key.trim()), "the private key is not told");
        assert_sound(&bpc);
    }

    async fn processes_that_initialise_together_agree_on_one_key(db) {
        let bpc = bpc(&db);
        let outputs = finish((0..6).map(|_| bpc.spawn(["init", "--json"])).collect(), PATIENCE);
        let keys: Vec<_> = outputs.iter().map(|it| it.json()["log_key"]["public_key"].clone()).collect();
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        assert_sound(&bpc);
    }

    async fn a_file_that_is_no_key_is_never_overwritten(db) {
        let bpc = bpc(&db);
        let place = match db.kind() {
            DatabaseKind::Sqlite => db.path().unwrap().with_extension("db.key"),
            DatabaseKind::Postgres => bpc.directory().join("bpc-log.key"),
        };
        std::fs::write(&place, "my diary").unwrap();
        let refused = bpc.run(["init", "--json"]).expect_code(2);
        assert_eq!(error(&refused).0, "KEY_FILE_INVALID");
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "my diary");
    }
}
