//! Tiles (C2SP tlog-tiles): how the hashes of a tree are cut into pieces of 256 that never change
//! once full, and what the pieces are called.
//!
//! Tile level 0 holds leaf hashes. Each hash at level 1 is the root of one full tile of level 0, and so
//! on upwards. *Index* of a hash is its place among all hashes of its level; *index* of a tile is
//! that divided by 256. Hashes between levels are not stored: 256 hashes are enough to make them.

use std::fmt;
use std::str::FromStr;

use crate::chain::Hash;

/// Hashes in a full tile.
pub const TILE_WIDTH: u64 = 256;
/// Binary tree levels that one tile spans.
pub const TILE_HEIGHT: u32 = 8;
/// Bytes of a hash.
pub const HASH_LEN: usize = 32;
/// Highest tile level of a tree whose size is a `u64`.
pub const LEVEL_MAX: u8 = 7;

/// Which tile, and how much of it: a tile only ever grows, to the right, so a wider one of the same
/// level and index begins with a narrower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileId {
    /// 0 for leaves.
    pub level: u8,
    /// Place in the level.
    pub index: u64,
    /// Hashes in it, 1 to 256.
    pub width: u16,
}

/// A tile with its hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Which one; its width is that of `bytes`.
    pub id: TileId,
    /// The hashes, one behind the other: what is stored and served.
    pub bytes: Vec<u8>,
}

impl TileId {
    /// The tile that holds the hash at `index` of `level`, as wide as a tree of `size` leaves makes
    /// it. `None` if that tree has no such hash.
    pub fn holding(level: u8, index: u64, size: u64) -> Option<TileId> {
        if index >= hashes_at(level, size) {
            return None;
        }
        let tile = index / TILE_WIDTH;
        Some(TileId { level, index: tile, width: width_of(level, tile, size) })
    }

    /// All tiles of a tree of `size` leaves, level by level.
    pub fn all(size: u64) -> impl Iterator<Item = TileId> {
        (0..=LEVEL_MAX).flat_map(move |level| {
            let tiles = hashes_at(level, size).div_ceil(TILE_WIDTH);
            (0..tiles).map(move |index| TileId { level, index, width: width_of(level, index, size) })
        })
    }

    /// The tiles of a tree of `size` leaves that are not full: what has to be loaded to go on.
    /// At most one per level, lowest first.
    pub fn partial(size: u64) -> impl Iterator<Item = TileId> {
        (0..=LEVEL_MAX).filter_map(move |level| {
            let hashes = hashes_at(level, size);
            let width = (hashes % TILE_WIDTH) as u16;
            (width > 0).then_some(TileId { level, index: hashes / TILE_WIDTH, width })
        })
    }

    /// Index, in its level, of the first hash of this tile.
    pub fn first(&self) -> u64 {
        self.index * TILE_WIDTH
    }

    /// Whether nothing can be added any more.
    pub fn is_full(&self) -> bool {
        u64::from(self.width) == TILE_WIDTH
    }

    /// Bytes of this tile.
    pub fn len_bytes(&self) -> usize {
        usize::from(self.width) * HASH_LEN
    }

    /// Path of the entries (leaf data) under this tile of level 0: `tile/entries/x001/234.p/5`.
    /// `None` at other levels, which have none.
    pub fn entries_path(&self) -> Option<String> {
        (self.level == 0).then(|| format!("tile/entries/{}", Place(self)))
    }
}

impl Tile {
    /// The hash at `index` of this tile's level, if it is in here.
    pub fn hash(&self, index: u64) -> Option<Hash> {
        let at = usize::try_from(index.checked_sub(self.id.first())?).ok()?;
        hash_in(&self.bytes, at)
    }
}

/// Hash number `at` of a tile's bytes.
pub fn hash_in(bytes: &[u8], at: usize) -> Option<Hash> {
    let from = at.checked_mul(HASH_LEN)?;
    Hash::from_slice(bytes.get(from..from.checked_add(HASH_LEN)?)?)
}

/// How many hashes `level` of a tree of `size` leaves has.
pub fn hashes_at(level: u8, size: u64) -> u64 {
    size.checked_shr(TILE_HEIGHT * u32::from(level)).unwrap_or(0)
}

fn width_of(level: u8, index: u64, size: u64) -> u16 {
    (hashes_at(level, size) - index * TILE_WIDTH).min(TILE_WIDTH) as u16
}

/// `tile/<level>/<index>`, with `.p/<width>` if it is not full. The index is cut into groups of three
/// digits, all but the last behind an `x`, so that no name is both a file and a directory.
impl fmt::Display for TileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile/{}/{}", self.level, Place(self))
    }
}

struct Place<'a>(&'a TileId);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TileId { index, width, .. } = *self.0;
        // A u64 has at most 20 digits: seven groups.
        for group in (1..7).rev() {
            let above = index / 1000_u64.pow(group);
            if above > 0 {
                write!(f, "x{:03}/", above % 1000)?;
            }
        }
        write!(f, "{:03}", index % 1000)?;
        if self.0.is_full() { Ok(()) } else { write!(f, ".p/{width}") }
    }
}

/// A path that does not name a tile in the one way it can be spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the path of a tile: want tile/<level>/<index>[.p/<width>], such as tile/0/x001/234.p/5")]
pub struct NotATilePath;

impl NotATilePath {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        "TILE_PATH_INVALID"
    }
}

impl FromStr for TileId {
    type Err = NotATilePath;

    fn from_str(path: &str) -> Result<Self, NotATilePath> {
        let id = read_path(path).ok_or(NotATilePath)?;
        // Every tile has one spelling; whatever else parses to it is not it.
        if id.to_string() == path { Ok(id) } else { Err(NotATilePath) }
    }
}

fn read_path(path: &str) -> Option<TileId> {
    let (level, rest) = path.strip_prefix("tile/")?.split_once('/')?;
    let (groups, width) = match rest.split_once(".p/") {
        Some((groups, width)) => (groups, width.parse().ok().filter(|width| (1..256).contains(width))?),
        None => (rest, TILE_WIDTH as u16),
    };
    let index = groups.split('/').try_fold(0_u64, |index, group| {
        let digits: u64 = group.strip_prefix('x').unwrap_or(group).parse().ok()?;
        index.checked_mul(1000)?.checked_add(digits)
    })?;
    let level = level.parse().ok().filter(|level| *level <= LEVEL_MAX)?;
    Some(TileId { level, index, width })
}
