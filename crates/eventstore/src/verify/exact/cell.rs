//! One stored value, whatever its type: SQLite keeps any value in any column, and a value of the wrong
//! type is a finding, not a reason to give up.

use std::borrow::Cow;
use std::fmt;

use uuid::Uuid;

/// A stored value, borrowed from its row or kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(Cow<'a, [u8]>),
    Blob(Cow<'a, [u8]>),
}

impl<'a> Cell<'a> {
    pub(super) fn text(bytes: &'a [u8]) -> Self {
        Cell::Text(Cow::Borrowed(bytes))
    }

    pub(super) fn blob(bytes: &'a [u8]) -> Self {
        Cell::Blob(Cow::Borrowed(bytes))
    }

    pub(super) fn uuid(id: &'a Uuid) -> Self {
        Cell::blob(id.as_bytes())
    }

    /// A copy that outlives the row.
    pub(super) fn kept(&self) -> Cell<'static> {
        match self {
            Cell::Null => Cell::Null,
            Cell::Integer(value) => Cell::Integer(*value),
            Cell::Real(value) => Cell::Real(*value),
            Cell::Text(bytes) => Cell::Text(Cow::Owned(bytes.to_vec())),
            Cell::Blob(bytes) => Cell::Blob(Cow::Owned(bytes.to_vec())),
        }
    }

    /// The same, borrowed from here.
    pub(super) fn borrowed(&self) -> Cell<'_> {
        match self {
            Cell::Null => Cell::Null,
            Cell::Integer(value) => Cell::Integer(*value),
            Cell::Real(value) => Cell::Real(*value),
            Cell::Text(bytes) => Cell::text(bytes),
            Cell::Blob(bytes) => Cell::blob(bytes),
        }
    }

    /// The bytes of text or a blob; nothing for a number.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Cell::Text(bytes) | Cell::Blob(bytes) => bytes,
            _ => &[],
        }
    }

    pub(super) fn as_integer(&self) -> Option<i64> {
        match self {
            Cell::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn as_uuid(&self) -> Option<Uuid> {
        match self {
            Cell::Blob(bytes) => Uuid::from_slice(bytes).ok(),
            _ => None,
        }
    }
}

/// As a finding shows it: text in quotes only where it could be taken for something else.
impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_MAX: usize = 64;
        match self {
            Cell::Null => f.write_str("NULL"),
            Cell::Integer(value) => value.fmt(f),
            Cell::Real(value) => write!(f, "{value:?}"),
            Cell::Text(bytes) => String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_MAX)]).fmt(f),
            Cell::Blob(bytes) => match self.as_uuid() {
                Some(id) => id.fmt(f),
                None => {
                    bytes.iter().take(SHOWN_MAX).try_for_each(|byte| write!(f, "{byte:02x}"))?;
                    if bytes.len() > SHOWN_MAX { f.write_str("…") } else { Ok(()) }
                }
            },
        }
    }
}
