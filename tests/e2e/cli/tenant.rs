//! Tenants do not see each other.

use bpc_testkit::on_both_databases;

use crate::harness::{assert_sound, bpc, enqueue, error, initialised, text};

on_both_databases! {
    async fn tenants_do_not_see_or_command_each_others_jobs(db) {
        let bpc = initialised(&db);
        let id = text(&bpc.run(["tenant", "add", "acme", "--json"]).expect_success().json(), "tenant_id");
        let theirs = enqueue(&bpc, "DRILL_FAIL", "{}", &["--tenant", "acme", "--key", "k"]);
        let mine = enqueue(&bpc, "DRILL_FAIL", "{}", &["--key", "k"]);
        assert_ne!(mine, theirs, "keys belong to a tenant");
        for (tenant, job) in [("default", &mine), ("acme", &theirs), (&id, &theirs)] {
            let listed = bpc.run(["jobs", "list", "--json", "--tenant", tenant]).expect_success().json_lines();
            let ids: Vec<String> = listed.iter().map(|line| text(line, "job_id")).collect();
            assert_eq!(ids, [job.as_str()], "{tenant}");
        }
        for command in [
            &["show", &theirs][..],
            &["why", &theirs],
            &["cancel", &theirs],
            &["replay", &theirs, "--reason", "x"],
            &["resolve", &theirs, "--reason", "x"],
        ] {
            let output = bpc.run([&["jobs", "--json"], command].concat()).expect_code(1);
            assert_eq!(error(&output).0, "JOB_NOT_FOUND", "{command:?}");
        }
        // A worker runs the jobs of its tenant, unless told otherwise.
        let report = bpc.run(["worker", "--until-idle", "--json"]).expect_success().json();
        assert_eq!(report["leased"], 1);
        let report = bpc.run(["worker", "--until-idle", "--all-tenants", "--json"]).expect_success().json();
        assert_eq!(report["leased"], 1);
        let all = bpc.run(["jobs", "list", "--all-tenants", "--json"]).expect_success().json_lines();
        assert_eq!(all.len(), 2);
        let stats = bpc.run(["jobs", "stats", "--json", "--tenant", "acme"]).expect_success().json();
        assert_eq!((&stats["status"], &stats["jobs"]), (&"FAILED".into(), &1.into()));
        assert_sound(&bpc);
    }

    async fn tenants_are_named_once_and_by_rule(db) {
        let bpc = bpc(&db);
        let added = ["tenant", "add", "acme", "--name", "Acme Batteries", "--json"];
        assert_eq!(bpc.run(added).expect_success().json()["name"], "Acme Batteries");
        assert_eq!(error(&bpc.run(added).expect_code(1)).0, "TENANT_EXISTS");
        for slug in ["Acme", "4711", "a b", ""] {
            let output = bpc.run(["tenant", "add", slug, "--json"]).expect_code(1);
            assert_eq!(error(&output).0, "VALIDATION_ERROR", "{slug:?}");
        }
        let listed = bpc.run(["tenant", "list", "--json"]).expect_success().json_lines();
        let mut slugs: Vec<String> = listed.iter().map(|line| text(line, "slug")).collect();
        slugs.sort_unstable();
        assert_eq!(slugs, ["acme", "default"]);
        let output = bpc.run(["jobs", "list", "--tenant", "nobody", "--json"]).expect_code(1);
        assert_eq!(error(&output).0, "TENANT_NOT_FOUND");
        let by_environment = crate::harness::bpc(&db).env("BPC_TENANT", "acme");
        enqueue(&by_environment, "DRILL_NOOP", "{}", &[]);
        assert_eq!(bpc.run(["jobs", "list", "--json"]).expect_success().stdout, "");
    }
}
