//! `docs/FORMAT.md` about the sealed log: its vectors are those of the code, what it says is refused is refused
//! with that code, and the script in it, which shares nothing with this program, agrees.
//!
//! Needs `python3` and `openssl`.

#[path = "common/sealed.rs"]
mod sealed;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use bpc_core::merkle::{event_leaf, leaf_data};
use bpc_core::note::{Checkpoint, SignedNote, Signer, VerifierKey, base64, open_checkpoint};
use bpc_core::proof::{DOES_NOT_PROVE, PROVES, Proof, ProvenEvent, Subject, check, check_consistency};
use bpc_core::tile::TileId;
use bpc_core::witness::AddCheckpoint;
use bpc_core::{Hash, StreamId, Version};

use sealed::{JOB, ORIGIN, OTHER, Sealed, changes, document_events, signer, witness};

/// Leaves of the log of the vectors.
const SIZE: u64 = 5;
/// Where the job's events stand.
const PLACES: [u64; 3] = [0, 2, 4];
/// Size of the checkpoint that an auditor kept.
const KEPT: u64 = 3;
/// When the witness signed: 2026-11-16T19:48:32Z.
const WITNESSED_AT: u64 = 1_794_858_512;

#[test]
fn the_document_shows_the_vectors_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/FORMAT.md");
    let stored = std::fs::read_to_string(&path).expect("docs/FORMAT.md is there");
    let blocks = [
        ("leaves", leaves_block()),
        ("proofs", proofs_block()),
        ("keys", fenced("", &format!("{}\n{}\n", signer().verifier(), witness().verifier()))),
        ("checkpoint", fenced("", &newest().to_string())),
        ("proves", bullets(&PROVES)),
        ("does-not-prove", bullets(&DOES_NOT_PROVE)),
        ("proof-file", fenced("json", &String::from_utf8(job_proof().write().unwrap()).unwrap())),
        ("consistency", consistency_block()),
        ("script", script_block()),
    ];
    let fresh =
        blocks.iter().fold(stored.clone(), |document, (name, block)| with_block(&document, name, block));
    if std::env::var_os("BPC_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, fresh).expect("docs/FORMAT.md can be written");
    } else {
        assert_eq!(stored, fresh, "docs/FORMAT.md is out of date: run this test with BPC_BLESS=1");
    }
}

#[test]
fn tiles_are_named_as_the_document_says() {
    let path = |level, index, width| TileId { level, index, width }.to_string();
    let entries = TileId { level: 0, index: 1234, width: 5 }.entries_path().unwrap();
    for (tile, path) in [
        ("level 0, index 0, full", path(0, 0, 256)),
        ("level 0, index 1,234,067, full", path(0, 1_234_067, 256)),
        ("level 1, index 1234, five hashes wide", path(1, 1234, 5)),
        ("leaf data of level 0, index 1234, five wide", entries),
    ] {
        assert_row(tile, &format!("`{path}`"));
    }
    for path in ["tile/0/0", "tile/00/000", "tile/0/x000/000", "tile/0/000.p/256", "tile/8/000"] {
        assert!(document().contains(&format!("`{path}`")));
        assert_eq!(path.parse::<TileId>().map_err(|error| error.code()), Err("TILE_PATH_INVALID"));
    }
}

#[test]
fn a_changed_checkpoint_is_refused_as_the_document_says() {
    let note = newest();
    let text = note.to_string();
    let line = |at: usize| note.signatures[at].to_string();
    let (log_line, witness_line) = (line(0), line(1));
    let another = Signer::new(ORIGIN, &[3; 32]).unwrap().sign(&note.text);
    let mut later = note.clone();
    later.signatures[1].signature[7] += 1;
    let with = |signatures| SignedNote { text: note.text.clone(), signatures }.to_string();
    let table = [
        (
            "size `6` for `5`; the root of another tree; `bpc.example/log2` as origin",
            "NOTE_SIGNATURE_INVALID",
            vec![
                text.replacen("\n5\n", "\n6\n", 1),
                text.replacen(&base64(&log().root(SIZE).0), &base64(&log().root(KEPT).0), 1),
                text.replacen(ORIGIN, "bpc.example/log2", 1),
            ],
        ),
        ("the witness's time one second later", "NOTE_SIGNATURE_INVALID", vec![later.to_string()]),
        (
            "only the witness's line",
            "CHECKPOINT_NOT_BY_ITS_LOG",
            vec![with(vec![note.signatures[1].clone()])],
        ),
        ("only a line of another key with the log's name", "NOTE_NOT_SIGNED", vec![with(vec![another])]),
        (
            "no LF at the end; the blank line removed",
            "NOTE_MALFORMED",
            vec![text.trim_end().to_owned(), text.replacen("\n\n", "\n", 1)],
        ),
        (
            "a hyphen for the dash; a space at the end of a line; the `=` at the end left out",
            "NOTE_SIGNATURE_MALFORMED",
            vec![
                text.replacen('—', "-", 1),
                text.replacen(&log_line, &format!("{log_line} "), 1),
                text.replacen(&witness_line, witness_line.trim_end_matches('='), 1),
            ],
        ),
        ("a tab in the text", "NOTE_NOT_TEXT", vec![text.replacen("bpc.", "bpc\t", 1)]),
    ];
    for (change, code, notes) in table {
        assert_row(change, &format!("`{code}`"));
        for changed in notes {
            assert_ne!(changed, text);
            let refused =
                open_checkpoint(changed.as_bytes(), &both_keys()).map_err(|error| error.code()).err();
            assert_eq!(refused, Some(code), "{changed}");
            // The script opens the checkpoint of a proof by the same rules.
            let proof = Proof { checkpoint: changed, ..job_proof() };
            assert_eq!(script_accepts(&[proof.write().unwrap()], &both_keys()), [false]);
        }
    }
}

#[test]
fn a_changed_proof_is_refused_as_the_document_says() {
    let files: Vec<_> = changed_proofs();
    let texts: Vec<_> = files.iter().flat_map(|(_, _, files)| files.clone()).collect();
    let mut accepted = script_accepts(&texts, &both_keys()).into_iter();
    for (change, code, files) in files {
        assert_row(change, &code.map_or("nothing: see above".to_owned(), |code| format!("`{code}`")));
        for file in files {
            let refused = check(&file, &both_keys()).map_err(|error| error.code()).err();
            assert_eq!(refused, code, "{change}: {}", String::from_utf8_lossy(&file));
            assert_eq!(accepted.next(), Some(code.is_none()), "the script: {change}");
        }
    }
}

#[test]
fn the_script_and_this_program_agree_on_every_sort_of_changed_byte() {
    let proof = job_proof().write().unwrap();
    // Every kind of byte many times; each check costs the script two runs of openssl.
    let changed: Vec<_> = changes(&proof).step_by(23).map(|(_, changed)| changed).collect();
    assert!(changed.len() > 400);
    let script = script_accepts(&changed, &both_keys());
    for (changed, accepted) in changed.iter().zip(script) {
        let ours = check(changed, &both_keys()).is_ok();
        assert_eq!(accepted, ours, "{}", String::from_utf8_lossy(changed));
    }
    let event = log().proof(Subject::Event, Some(document_events()[1].hash), &[(4, &document_events()[2])]);
    let event = event.write().unwrap();
    assert_eq!(script_accepts(std::slice::from_ref(&event), &both_keys()), [true]);
    assert_eq!(script_accepts(&[event], &[witness().verifier().clone()]), [false]);
}

#[test]
fn the_script_agrees_about_consistency() {
    let log = log_of(70);
    let kept_of = |size| log.note(size).to_string();
    let keys = [signer().verifier().clone()];
    let mut cases = Vec::new();
    for (old, new) in [(0, 0), (0, 9), (1, 9), (6, 9), (8, 9), (9, 9), (31, 64), (32, 64), (33, 70), (69, 70)]
    {
        let document = AddCheckpoint::new(old, log.consistency(old, new), log.note(new)).unwrap();
        cases.push((document.to_string(), kept_of(old)));
        // From another size, with a hash too many, with one changed.
        cases.push((document.to_string(), kept_of(old + 1)));
        let mut longer = document.clone();
        longer.proof.push(Hash::ZERO);
        cases.push((longer.to_string(), kept_of(old)));
        for at in 0..document.proof.len() {
            let mut changed = document.clone();
            changed.proof[at].0[9] ^= 4;
            cases.push((changed.to_string(), kept_of(old)));
        }
    }
    let script = script_continues(&cases, &keys);
    let ours =
        cases.iter().map(|(new, kept)| check_consistency(new.as_bytes(), kept.as_bytes(), &keys).is_ok());
    assert_eq!(script, ours.collect::<Vec<_>>());
    assert_eq!(script.iter().filter(|accepted| **accepted).count(), 10);
}

/// A row of the document: the change, the code it is refused with, files changed in this way.
type Row = (&'static str, Option<&'static str>, Vec<Vec<u8>>);

/// The rows of the document's table about changed proofs.
fn changed_proofs() -> Vec<Row> {
    let proof = job_proof();
    let file = String::from_utf8(proof.write().unwrap()).unwrap();
    let [first, second, third] = &proof.events[..] else { unreachable!() };
    let with = |events: &[&ProvenEvent]| {
        let events = events.iter().map(|proven| (*proven).clone()).collect();
        Proof { events, ..proof.clone() }.write().unwrap()
    };
    let replaced = |from: &str, to: &str| {
        assert!(file.contains(from), "{from}");
        file.replacen(from, to, 1).into_bytes()
    };
    let mut other_hash = first.clone();
    other_hash.path[0].0[0] ^= 1;
    let mut shorter = first.clone();
    shorter.path.remove(0);
    let moved = |proven: &ProvenEvent, position| ProvenEvent { position, ..proven.clone() };
    let older = Proof { checkpoint: log().note(KEPT).to_string(), ..proof.clone() }.write().unwrap();
    vec![
        ("the last event left out", None, vec![with(&[first, second])]),
        (
            "the first event left out; the second left out",
            Some("VERSION_GAP"),
            vec![with(&[second, third]), with(&[first, third])],
        ),
        ("the first and second event swapped", Some("VERSION_GAP"), vec![with(&[second, first, third])]),
        (
            "`\"duration_ms\":14` for `\"duration_ms\":140`",
            Some("PROOF_NOT_INCLUDED"),
            vec![replaced(r#"\"duration_ms\":140"#, r#"\"duration_ms\":14"#)],
        ),
        (
            "position 1 for 0; the first hash of a path changed or left out",
            Some("PROOF_NOT_INCLUDED"),
            vec![
                with(&[&moved(first, 1), second, third]),
                with(&[&other_hash, second, third]),
                with(&[&shorter, second, third]),
            ],
        ),
        (
            "position 0 for the second event",
            Some("PROOF_ORDER"),
            vec![with(&[first, &moved(second, 0), third])],
        ),
        (
            "subject `event`",
            Some("PROOF_EVENT_COUNT"),
            vec![replaced(r#""subject":"job""#, r#""subject":"event""#)],
        ),
        (
            "`\"prev_hash\":null` before `subject`",
            Some("PROOF_NOT_CANONICAL"),
            vec![replaced(r#""subject""#, r#""prev_hash":null,"subject""#)],
        ),
        (
            "a space anywhere between tokens; no LF, or two",
            Some("PROOF_NOT_CANONICAL"),
            vec![
                replaced(r#""subject":"#, r#""subject": "#),
                replaced("{", " {"),
                replaced("}\n", "}"),
                replaced("}\n", "}\n\n"),
            ],
        ),
        (
            "`\"note\":\"\"` before `subject`",
            Some("PROOF_MALFORMED"),
            vec![replaced(r#""subject""#, r#""note":"","subject""#)],
        ),
        ("format `BPC-PROOF-2`", Some("PROOF_FORMAT_UNKNOWN"), vec![replaced("BPC-PROOF-1", "BPC-PROOF-2")]),
        ("a signed checkpoint of the first three leaves", Some("PROOF_NOT_INCLUDED"), vec![older]),
    ]
}

fn leaves_block() -> String {
    let mut text = String::new();
    for (position, (stream_type, stream_id, version, hash)) in leaves().into_iter().enumerate() {
        let data = String::from_utf8(leaf_data(stream_type, stream_id, version, &hash)).unwrap();
        let leaf = event_leaf(stream_type, stream_id, version, &hash);
        write!(text, "position {position}\n{data}leaf {leaf}\n\n").unwrap();
    }
    for size in 0..=SIZE {
        writeln!(text, "root of {size} {}", log().root(size)).unwrap();
    }
    fenced("", &text)
}

fn proofs_block() -> String {
    let mut text = String::new();
    let list = |path: &[Hash]| path.iter().fold(String::new(), |text, hash| format!("{text}{hash}\n"));
    for position in [0, 2, 4] {
        writeln!(text, "inclusion of {position} in {SIZE}\n{}", list(&log().path(position))).unwrap();
    }
    for old in [1, 3, 4] {
        writeln!(text, "consistency of {old} with {SIZE}\n{}", list(&log().consistency(old, SIZE))).unwrap();
    }
    fenced("", text.trim_end())
}

fn consistency_block() -> String {
    let document = since();
    format!(
        "The kept checkpoint of size {KEPT}, and the proof that the one above continues it:\n\n{}\n\n{}",
        fenced("", &kept()),
        fenced("", &document),
    )
}

fn script_block() -> String {
    let home = tempfile::tempdir().unwrap();
    let script = script();
    std::fs::write(home.path().join("check_proof.py"), script).unwrap();
    std::fs::write(home.path().join("job.proof"), job_proof().write().unwrap()).unwrap();
    std::fs::write(home.path().join("since.txt"), since()).unwrap();
    std::fs::write(home.path().join("kept.txt"), kept()).unwrap();
    let (log, witness) = (signer().verifier().to_string(), witness().verifier().to_string());
    let run = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        output(command.current_dir(home.path()).arg("check_proof.py").args(arguments))
    };
    let proof = run(&["proof", "job.proof", &log, &witness]);
    let consistency = run(&["consistency", "since.txt", "kept.txt", &log]);
    fenced(
        "console",
        &format!(
            "$ python3 check_proof.py proof job.proof $LOG_KEY $WITNESS_KEY\n{proof}\
             $ python3 check_proof.py consistency since.txt kept.txt $LOG_KEY\n{consistency}"
        ),
    )
}

/// The leaves of the vectors: the job's three events, one of a tenant, one of another job.
fn leaves() -> Vec<(&'static str, StreamId, Version, Hash)> {
    let job: StreamId = JOB.parse().unwrap();
    let tenant = "a8980e3f-23a4-8e8b-b05c-8734a6337d35".parse().unwrap();
    let hashes: Vec<_> = document_events().into_iter().map(|event| event.hash).collect();
    vec![
        ("Job", job, Version(1), hashes[0]),
        ("Tenant", tenant, Version(1), Hash([0x11; 32])),
        ("Job", job, Version(2), hashes[1]),
        ("Job", OTHER.parse().unwrap(), Version(7), Hash([0x33; 32])),
        ("Job", job, Version(3), hashes[2]),
    ]
}

fn log() -> Sealed {
    Sealed::of(
        leaves().iter().map(|(kind, id, version, hash)| event_leaf(kind, *id, *version, hash)).collect(),
    )
}

fn log_of(size: u64) -> Sealed {
    Sealed::with(&[], size)
}

/// The newest checkpoint, signed by log and witness.
fn newest() -> SignedNote {
    let mut note = log().note(SIZE);
    note.signatures.push(witness().cosign(&note.text, WITNESSED_AT));
    assert_eq!(Checkpoint::parse(&note.text).unwrap().size, SIZE);
    note
}

fn kept() -> String {
    log().note(KEPT).to_string()
}

fn since() -> String {
    let document = AddCheckpoint::new(KEPT, log().consistency(KEPT, SIZE), newest()).unwrap().to_string();
    check_consistency(document.as_bytes(), kept().as_bytes(), &both_keys()).unwrap();
    document
}

fn job_proof() -> Proof {
    let events = document_events();
    let placed: Vec<_> = PLACES.into_iter().zip(&events).collect();
    let proof = Proof { checkpoint: newest().to_string(), ..log().proof(Subject::Job, None, &placed) };
    check(&proof.write().unwrap(), &both_keys()).unwrap();
    proof
}

fn both_keys() -> Vec<VerifierKey> {
    vec![signer().verifier().clone(), witness().verifier().clone()]
}

fn document() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/FORMAT.md")).unwrap()
}

#[track_caller]
fn assert_row(change: &str, outcome: &str) {
    let row = format!("\n| {change} | {outcome} |\n");
    assert!(document().contains(&row), "the document has no row {row}");
}

/// The document's script that checks proofs.
fn script() -> String {
    let document = document();
    let mut blocks = document.split("```python\n").skip(1).filter_map(|rest| rest.split_once("```\n"));
    let (script, _) =
        blocks.find(|(block, _)| block.contains("def check_proof")).expect("the script is there");
    script.to_owned()
}

/// Whether the script accepts each of these files.
fn script_accepts(files: &[Vec<u8>], keys: &[VerifierKey]) -> Vec<bool> {
    let home = tempfile::tempdir().unwrap();
    for (at, file) in files.iter().enumerate() {
        std::fs::write(home.path().join(format!("{at}.proof")), file).unwrap();
    }
    let check = "check_proof.check_proof(read(f'{at}.proof'), keys)";
    run_script(home.path(), check, files.len(), keys)
}

/// Whether the script finds each document to continue each kept checkpoint.
fn script_continues(cases: &[(String, String)], keys: &[VerifierKey]) -> Vec<bool> {
    let home = tempfile::tempdir().unwrap();
    for (at, (document, kept)) in cases.iter().enumerate() {
        std::fs::write(home.path().join(format!("{at}.new")), document).unwrap();
        std::fs::write(home.path().join(format!("{at}.old")), kept).unwrap();
    }
    let check = "check_proof.check_consistency(read(f'{at}.new'), read(f'{at}.old'), keys)";
    run_script(home.path(), check, cases.len(), keys)
}

/// One Python process for many files.
fn run_script(home: &Path, check: &str, count: usize, keys: &[VerifierKey]) -> Vec<bool> {
    std::fs::write(home.join("check_proof.py"), script()).unwrap();
    let driver = format!(
        "import sys, check_proof\nfrom check_proof import read\nkeys = sys.argv[1:]\n\
         for at in range({count}):\n try:\n  {check}\n  print('accepted')\n except Exception:\n  print('refused')\n"
    );
    std::fs::write(home.join("driver.py"), driver).unwrap();
    let mut command = Command::new("python3");
    command.current_dir(home).arg("driver.py").args(keys.iter().map(VerifierKey::to_string));
    let verdicts: Vec<_> = output(&mut command).lines().map(|line| line == "accepted").collect();
    assert_eq!(verdicts.len(), count);
    verdicts
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("python3 is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn fenced(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```", text.trim_end_matches('\n'))
}

fn bullets(sentences: &[&str]) -> String {
    sentences.iter().map(|sentence| format!("* {sentence}")).collect::<Vec<_>>().join("\n")
}

fn with_block(document: &str, name: &str, block: &str) -> String {
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = document.split_once(&begin).expect("the document has the opening marker");
    let (_, after) = rest.split_once(&end).expect("the document has the closing marker");
    format!("{before}{begin}\n{block}\n\n{end}{after}")
}
