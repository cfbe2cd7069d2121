//! The operating-system account a server runs under.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::unistd::{User, geteuid};

/// The caller's own account, or a server's when the caller is root: PostgreSQL refuses to run as
/// root, and RabbitMQ's files should not belong to it.
#[derive(Clone, Copy)]
pub(crate) struct Account(Option<(u32, u32)>);

impl Account {
    /// The account for a server that Debian runs as `name`.
    pub(crate) fn of_server(name: &str) -> Self {
        if !geteuid().is_root() {
            return Self(None);
        }
        let user = User::from_name(name)
            .expect("the list of accounts is readable")
            .unwrap_or_else(|| panic!("no account {name}: is the server's package installed?"));
        Self(Some((user.uid.as_raw(), user.gid.as_raw())))
    }

    /// Makes `command` run under this account.
    pub(crate) fn apply(self, command: &mut Command) {
        if let Some((uid, gid)) = self.0 {
            command.uid(uid).gid(gid);
        }
    }

    /// Gives `path` to this account.
    pub(crate) fn own(self, path: &Path) {
        if let Some((uid, gid)) = self.0 {
            chown(path, Some(uid), Some(gid))
                .unwrap_or_else(|error| panic!("cannot give away {}: {error}", path.display()));
        }
    }
}
