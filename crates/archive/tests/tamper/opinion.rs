//! What verify says about an archive, and what an auditor without this program says, in the same words.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use bpc_archive::{Archive, ArchiveFinding, verify_archive};
use bpc_core::{BlobFields, StreamId};
use bpc_eventstore::verify::{KeptCheckpoint, VerifyOptions};

use crate::scene::named;

/// Where audit.py is.
const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
const NAMES: [&str; 8] = ["log", "tenant", "job", "other-job", "a", "b", "c", "many"];

/// Findings, one a line: level, code, where. One line if it cannot be checked at all.
pub fn of_verify(directory: &Path, options: &VerifyOptions) -> Vec<String> {
    let archive = match Archive::open(directory) {
        Ok(archive) => archive,
        Err(error) => return vec![error.code().to_owned()],
    };
    let report = verify_archive(&archive, options, Some(&BlobFields::default()), |_| {})
        .expect("there is room for temporary files");
    assert_eq!(report.findings.len() as u64, report.findings_total);
    let mut lines: Vec<String> = report.findings.iter().map(line).collect();
    lines.dedup();
    lines
}

fn line(finding: &ArchiveFinding) -> String {
    let mut line = format!("{} {}", finding.level, finding.code);
    if let Some(version) = finding.version {
        line += &format!(" {}/{version}", name(finding.stream));
    }
    if let Some(position) = finding.position {
        line += &format!(" @{position}");
    }
    let file = finding.tile.as_ref().or(finding.file.as_ref());
    file.into_iter().for_each(|file| line += &format!(" {file}"));
    if let Some(checkpoint) = finding.checkpoint {
        line += &format!(" checkpoint {checkpoint}");
    }
    line
}

fn name(stream: StreamId) -> &'static str {
    NAMES.into_iter().find(|name| named(name) == stream).unwrap_or("?")
}

/// The same by the script that is written from the documents. One process for many archives.
pub struct Auditor {
    process: Child,
    answers: Lines<BufReader<ChildStdout>>,
}

const ASK: &str = "
import contextlib, io, json, sys
sys.path.insert(0, sys.argv[1])
import audit
for line in sys.stdin:
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        code = audit.main(json.loads(line))
    print(json.dumps([code, *map(json.loads, told.getvalue().splitlines())]), flush=True)
";

impl Auditor {
    pub fn new() -> Self {
        let mut python = Command::new("python3");
        python.args(["-B", "-c", ASK, DOCS]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = python.spawn().expect("python3 runs");
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        Auditor { process, answers }
    }

    pub fn opinion(&mut self, directory: &Path, options: &VerifyOptions) -> Vec<String> {
        let mut arguments = vec![directory.to_str().unwrap().to_owned(), "--blobs".to_owned()];
        arguments.extend(options.keys.iter().flat_map(|key| ["--key".to_owned(), key.to_string()]));
        arguments.extend(options.witnesses.iter().flat_map(|key| ["--witness".to_owned(), key.to_string()]));
        let scratch = tempfile::TempDir::new().unwrap();
        for (number, KeptCheckpoint { note, .. }) in options.checkpoints.iter().enumerate() {
            let path = scratch.path().join(number.to_string());
            std::fs::write(&path, note.to_string()).unwrap();
            arguments.extend(["--checkpoint".to_owned(), path.to_str().unwrap().to_owned()]);
        }
        let question = serde_json::to_string(&arguments).unwrap();
        writeln!(self.process.stdin.as_mut().unwrap(), "{question}").unwrap();
        let answer = self.answers.next().expect("an answer; otherwise the reason stands above").unwrap();
        let told: Vec<serde_json::Value> = serde_json::from_str(&answer).unwrap();
        let [code, findings @ .., summary] = &told[..] else { panic!("{told:?}") };
        if *code == 2 {
            return vec![summary["code"].as_str().unwrap().to_owned()];
        }
        let is_sound = findings.is_empty();
        assert_eq!((code.as_u64(), summary["sound"].as_bool()), (Some(u64::from(!is_sound)), Some(is_sound)));
        findings.iter().map(told_line).collect()
    }
}

impl Drop for Auditor {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn told_line(finding: &serde_json::Value) -> String {
    let text = |key: &str| finding[key].as_str().map(ToOwned::to_owned);
    let mut line = format!("{} {}", text("level").unwrap(), text("code").unwrap());
    if let Some(version) = finding["version"].as_u64() {
        let stream = text("stream").unwrap().parse().unwrap();
        line += &format!(" {}/{version}", name(StreamId(stream)));
    }
    if let Some(position) = finding["position"].as_u64() {
        line += &format!(" @{position}");
    }
    text("tile").or(text("file")).into_iter().for_each(|file| line += &format!(" {file}"));
    if let Some(checkpoint) = finding["checkpoint"].as_u64() {
        line += &format!(" checkpoint {checkpoint}");
    }
    line
}
