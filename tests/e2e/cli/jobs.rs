//! `bpc jobs list`, `show`, `why` and `stats`.

use bpc_testkit::on_both_databases;
use serde_json::{Value, json};

use crate::harness::{bpc, enqueue, error, initialised, show, text};

on_both_databases! {
    async fn a_listed_job_has_the_promised_fields(db) {
        let bpc = bpc(&db);
        let job = enqueue(&bpc, "DRILL_NOOP", "{}", &["--priority", "1", "--queue", "mail"]);
        let listed = bpc.run(["jobs", "list", "--json"]).expect_success().json_lines();
        let [line] = &listed[..] else { panic!("{listed:?}") };
        let known = json!({
            "job_id": job, "type": "DRILL_NOOP", "queue": "mail", "status": "QUEUED",
            "priority": 1, "attempts": 0, "max_attempts": 5,
        });
        for (field, value) in known.as_object().unwrap() {
            assert_eq!(&line[field], value, "{field}");
        }
        for field in ["scheduled_at", "created_at"] {
            assert_is_moment(&line[field]);
        }
        bpc.run(["worker", "--until-idle"]).expect_success();
        let line = bpc.run(["jobs", "list", "--json"]).expect_success().json();
        assert_eq!((&line["status"], &line["attempts"]), (&"SUCCEEDED".into(), &1.into()));
        assert_is_moment(&line["finished_at"]);
    }

    async fn a_shown_job_is_its_line_and_its_events(db) {
        let bpc = bpc(&db);
        let job = enqueue(&bpc, "DRILL_FLAKY", r#"{"fail_times":0}"#, &[]);
        bpc.run(["worker", "--until-idle"]).expect_success();
        let mut shown = show(&bpc, &job);
        let events = shown.as_object_mut().unwrap().remove("events").unwrap();
        assert_eq!(shown, bpc.run(["jobs", "list", "--json"]).expect_success().json());
        let events = events.as_array().unwrap();
        let types: Vec<&str> = events.iter().map(|event| event["event_type"].as_str().unwrap()).collect();
        assert_eq!(types, ["ENQUEUED", "LEASED", "SUCCEEDED"]);
        for (event, version) in events.iter().zip(1..) {
            assert_eq!(event["version"], version);
            assert_is_moment(&event["occurred_at"]);
            assert_eq!(text(event, "event_hash").len(), 64);
            assert!(event["payload"].is_object(), "{event}");
        }
        assert!(text(&events[0], "actor").starts_with("user:"));
        assert!(text(&events[1], "actor").starts_with("worker:"));
        assert_eq!(events[2]["payload"]["result"], json!({"attempt": 1}));
        let for_people = bpc.run(["jobs", "show", &job]).expect_success().stdout;
        for part in [&job, "SUCCEEDED", "LEASED", "1 of 5"] {
            assert!(for_people.contains(part), "{part} in {for_people}");
        }
    }

    async fn the_list_is_filtered_and_newest_first(db) {
        let bpc = bpc(&db);
        let done = enqueue(&bpc, "DRILL_NOOP", "{}", &["--queue", "mail"]);
        let failed = enqueue(&bpc, "DRILL_FAIL", "{}", &[]);
        bpc.run(["worker", "--until-idle"]).expect_success();
        let waiting = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        let created = text(&show(&bpc, &waiting), "created_at");
        for (filter, expected) in [
            (&[][..], &[&waiting, &failed, &done][..]),
            (&["--status", "SUCCEEDED"], &[&done]),
            (&["--status", "failed"], &[&failed]),
            (&["--status", "DEAD_LETTER"], &[]),
            (&["--type", "DRILL_NOOP"], &[&waiting, &done]),
            (&["--queue", "mail"], &[&done]),
            (&["--type", "DRILL_NOOP", "--status", "QUEUED"], &[&waiting]),
            (&["--limit", "2"], &[&waiting, &failed]),
            (&["--from", &created], &[&waiting]),
            (&["--to", &created], &[&failed, &done]),
            (&["--from", "2099-01-01T00:00:00Z"], &[]),
        ] {
            let listed = bpc.run([&["jobs", "list", "--json"], filter].concat()).expect_success().json_lines();
            let ids: Vec<String> = listed.iter().map(|line| text(line, "job_id")).collect();
            assert_eq!(ids.iter().collect::<Vec<_>>(), expected, "{filter:?}");
        }
        assert_eq!(bpc.run(["jobs", "list", "--status", "DEAD_LETTER"]).expect_success().stdout, "no jobs\n");
    }

    async fn why_names_the_rule_and_until_when(db) {
        let bpc = initialised(&db);
        let why = |job: &str| bpc.run(["jobs", "why", job, "--json"]).expect_success().json();
        let later = enqueue(&bpc, "DRILL_NOOP", "{}", &["--delay", "1h"]);
        assert_eq!(why(&later)["code"], "NOT_DUE");
        assert_eq!(why(&later)["until"], show(&bpc, &later)["scheduled_at"]);
        let first = enqueue(&bpc, "DRILL_FLAKY", r#"{"fail_times":1}"#, &["--priority", "0"]);
        let second = enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        assert_eq!(why(&first)["code"], "WAITS_FOR_WORKER");
        assert_eq!(why(&second)["code"], "JOBS_AHEAD");
        bpc.run(["worker", "--until-idle"]).expect_success();
        let code = text(&why(&first), "code");
        assert!(["RETRY_WAIT", "SUCCEEDED"].contains(&code.as_str()), "{code}");
        assert_eq!(why(&second)["code"], "SUCCEEDED");
        assert!(bpc.run(["jobs", "why", &second]).expect_success().stdout.starts_with("SUCCEEDED: "));
    }

    async fn stats_count_by_status_type_and_queue(db) {
        let bpc = initialised(&db);
        assert_eq!(bpc.run(["jobs", "stats", "--json"]).expect_success().stdout, "");
        bpc.run(["enqueue", "DRILL_NOOP", "--count", "3", "--queue", "mail"]).expect_success();
        bpc.run(["enqueue", "DRILL_FAIL", "--count", "2"]).expect_success();
        bpc.run(["worker", "--until-idle"]).expect_success();
        bpc.run(["enqueue", "DRILL_NOOP"]).expect_success();
        let mut counted = bpc.run(["jobs", "stats", "--json"]).expect_success().json_lines();
        counted.sort_by_key(Value::to_string);
        let mut expected = vec![
            json!({"status": "QUEUED", "type": "DRILL_NOOP", "queue": "default", "jobs": 1}),
            json!({"status": "SUCCEEDED", "type": "DRILL_NOOP", "queue": "mail", "jobs": 3}),
            json!({"status": "FAILED", "type": "DRILL_FAIL", "queue": "default", "jobs": 2}),
        ];
        expected.sort_by_key(Value::to_string);
        assert_eq!(counted, expected);
    }

    async fn a_worker_takes_only_the_queues_it_is_told(db) {
        let bpc = initialised(&db);
        let [mail, other] = ["mail", "other"].map(|queue| enqueue(&bpc, "DRILL_NOOP", "{}", &["--queue", queue]));
        bpc.run(["worker", "--until-idle", "--queues", "mail,print"]).expect_success();
        assert_eq!([&mail, &other].map(|job| text(&show(&bpc, job), "status")), ["SUCCEEDED", "QUEUED"]);
    }

    async fn verify_says_how_much_it_looked_at(db) {
        let bpc = initialised(&db);
        enqueue(&bpc, "DRILL_NOOP", "{}", &[]);
        let report = bpc.run(["verify", "--json"]).expect_success().json();
        assert_eq!((&report["level"], &report["findings"]), (&"L0".into(), &json!([])), "{report}");
        assert_eq!((&report["jobs"], &report["unsealed"]), (&1.into(), &report["events"]), "{report}");
        // A worker seals.
        bpc.run(["worker", "--until-idle"]).expect_success();
        let report = bpc.run(["verify", "--json"]).expect_success().json();
        assert_eq!((&report["level"], &report["held"], &report["findings"]), (&"L1".into(), &"L1".into(), &json!([])));
        assert_eq!((&report["up_to_position"], &report["unsealed"]), (&report["events"], &0.into()), "{report}");
        // Tenant, key, and the three events of the job.
        assert_eq!(report["events"], 5, "{report}");
    }

    async fn a_job_that_does_not_exist_is_not_found(db) {
        let bpc = initialised(&db);
        let id = "0193a6b2-7c41-7e11-9d0c-2f6a1b8e4c55";
        for command in [&["show", id][..], &["why", id], &["cancel", id], &["replay", id, "--reason", "x"]] {
            let output = bpc.run([&["jobs", "--json"], command].concat()).expect_code(1);
            assert_eq!(error(&output).0, "JOB_NOT_FOUND", "{command:?}");
        }
    }
}

#[track_caller]
fn assert_is_moment(value: &Value) {
    let text = value.as_str().unwrap_or_default();
    assert!(text.len() == 27 && text.ends_with('Z') && text.contains('T'), "{value}");
}
