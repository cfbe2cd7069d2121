//! The watchdog of this test process.
//!
//! Values in statics are never dropped, and nothing is dropped in a process that is killed. So a
//! small shell holds the reading end of a pipe. When the pipe closes, which the kernel does however
//! this process ends, the shell ends what is still running and removes what is still there.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::random;

/// How a process group is told to end when this process is gone.
#[derive(Clone, Copy)]
pub(crate) enum LastWord {
    /// At once.
    Kill,
    /// Quickly but releasing shared resources: PostgreSQL's immediate shutdown.
    Quit,
}

struct Guardian {
    directory: PathBuf,
    state: Mutex<State>,
}

struct State {
    shell: Child,
    groups: BTreeMap<u32, LastWord>,
}

static GUARDIAN: OnceLock<Guardian> = OnceLock::new();

/// The directory that holds all temporary files of this process.
pub(crate) fn directory() -> &'static Path {
    &guardian().directory
}

/// Has the process group ended if this process ends first.
pub(crate) fn watch(group: u32, last_word: LastWord) {
    guardian().update(|groups| groups.insert(group, last_word));
}

/// Takes back [`watch`] after the group has ended.
pub(crate) fn forget(group: u32) {
    guardian().update(|groups| groups.remove(&group));
}

fn guardian() -> &'static Guardian {
    GUARDIAN.get_or_init(Guardian::start)
}

impl Guardian {
    fn start() -> Self {
        let directory = create_directory();
        let shell = Command::new("sh")
            .args(["-c", include_str!("guardian.sh"), "guardian"])
            .arg(&directory)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // An interrupt from the terminal must not reach it.
            .process_group(0)
            .spawn()
            .expect("the watchdog shell starts");
        let state = Mutex::new(State { shell, groups: BTreeMap::new() });
        Self { directory, state }
    }

    fn update<T>(&self, change: impl FnOnce(&mut BTreeMap<u32, LastWord>) -> T) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state.groups);
        let mut line = String::new();
        for (group, last_word) in &state.groups {
            let signal = match last_word {
                LastWord::Kill => "KILL",
                LastWord::Quit => "QUIT",
            };
            line.push_str(&format!("{signal}:{group} "));
        }
        line.push('\n');
        // Without its watchdog a test still works; it only cleans up less surely.
        if let Some(pipe) = &mut state.shell.stdin {
            let _ = pipe.write_all(line.as_bytes());
        }
    }
}

/// Short, because the path of a unix socket below it has to fit into 107 bytes, and open to
/// traversal, because servers under other accounts live below it.
fn create_directory() -> PathBuf {
    let name = format!("bpc-test-{}", random::hex());
    let mut parent = std::env::temp_dir();
    if parent.as_os_str().len() > 50 {
        parent = PathBuf::from("/tmp");
    }
    let directory = parent.join(name);
    DirBuilder::new()
        .mode(0o755)
        .create(&directory)
        .unwrap_or_else(|error| panic!("cannot create {}: {error}", directory.display()));
    directory
}
