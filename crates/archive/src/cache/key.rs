//! What tells the caches of this user from everybody else's.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bpc_core::Hash;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A secret that caches are authenticated with. An archive comes from anywhere, and a cache cannot be checked
/// against signatures as a segment can; so only caches that were made with this key are believed, and
/// whoever cannot read it cannot make one. Losing it costs only the time to build caches anew.
#[derive(Clone)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// The key of the user who runs this: in `$XDG_STATE_HOME/bpc` or `~/.local/state/bpc`, made when it is
    /// first needed. Where there is no such place, one that lasts as long as the process.
    pub fn of_this_user() -> CacheKey {
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = var("XDG_STATE_HOME").or_else(|| Some(var("HOME")?.join(".local/state")));
        let kept = state.map(|state| CacheKey::load_or_create(&state.join("bpc/cache.key")));
        match kept {
            Some(Ok(key)) => key,
            Some(Err(error)) => {
                tracing::debug!(%error, "the key of caches cannot be kept");
                CacheKey::random()
            }
            None => CacheKey::random(),
        }
    }

    /// The key in a file, which is made if it is missing, for its owner's eyes only.
    pub fn load_or_create(path: &Path) -> io::Result<CacheKey> {
        match fs::read(path) {
            Ok(bytes) => {
                let key =
                    bytes.try_into().map_err(|_| io::Error::new(ErrorKind::InvalidData, "not 32 bytes"));
                return key.map(CacheKey);
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Err(_) => {}
        }
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let key = CacheKey::random();
        // Linked to its name when it is whole; whoever was faster has made the key that counts.
        let draft = path.with_extension(format!("key.{}", hex::encode(&CacheKey::random().0[..4])));
        let linked = write_draft(&draft, &key.0).and_then(|()| fs::hard_link(&draft, path));
        let _ = fs::remove_file(&draft);
        match linked {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => CacheKey::load_or_create(path),
            Err(error) => Err(error),
        }
    }

    /// A key that nobody else has.
    pub fn random() -> CacheKey {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the system has random bytes");
        CacheKey(key)
    }

    /// HMAC-SHA-256 of a part of the cache of a segment.
    pub(super) fn tag(&self, segment: &Hash, part: usize, bytes: &[u8]) -> [u8; 32] {
        self.mac(segment, part, bytes).finalize().into_bytes().into()
    }

    /// Was that part made with this key, for this segment?
    pub(super) fn holds(&self, segment: &Hash, part: usize, bytes: &[u8], tag: &[u8; 32]) -> bool {
        self.mac(segment, part, bytes).verify(tag.into()).is_ok()
    }

    fn mac(&self, segment: &Hash, part: usize, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length is a key");
        mac.update(super::FORMAT.as_bytes());
        mac.update(&segment.0);
        mac.update(&(part as u64).to_le_bytes());
        mac.update(bytes);
        mac
    }
}

/// Never shows the secret.
impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CacheKey")
    }
}

fn write_draft(path: &Path, key: &[u8; 32]) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(key)
}
