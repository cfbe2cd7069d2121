//! Writes canonical text, putting the members of each object in order as the object closes.

use super::order::compare_keys;

/// How many members are noted before the notes have to grow.
const TYPICAL_MEMBERS: usize = 16;

/// Canonical text in the making.
///
/// Members are written in the order they arrive, together with a note of where each begins and
/// ends. When an object closes out of order, its members are sorted and its text is put together
/// anew, so objects that arrive sorted cost nothing extra.
pub(super) struct Writer {
    pub(super) out: Vec<u8>,
    /// The members of all open objects, the innermost last.
    members: Vec<Member>,
    reordered: Vec<u8>,
}

/// An object that was opened and must be closed.
pub(super) struct OpenObject {
    body: usize,
    first_member: usize,
}

/// The object has a key twice; its second mention was said to be at this offset.
pub(super) struct RepeatedKey {
    pub(super) at: usize,
}

struct Member {
    start: usize,
    key_end: usize,
    end: usize,
    source: usize,
}

impl Member {
    /// The key without its quotes.
    fn key<'a>(&self, out: &'a [u8]) -> &'a [u8] {
        &out[self.start + 1..self.key_end - 1]
    }
}

impl Writer {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self {
            out: Vec::with_capacity(bytes),
            members: Vec::with_capacity(TYPICAL_MEMBERS),
            reordered: Vec::new(),
        }
    }

    pub(super) fn open_object(&mut self) -> OpenObject {
        self.out.push(b'{');
        OpenObject { body: self.out.len(), first_member: self.members.len() }
    }

    /// Starts a member; its key is written next. `source` is where to point if the key turns out
    /// to be a repetition; without it that is the place where the key is written.
    pub(super) fn start_member(&mut self, object: &OpenObject, source: Option<usize>) {
        if self.members.len() > object.first_member {
            self.out.push(b',');
        }
        let start = self.out.len();
        self.members.push(Member { start, key_end: start, end: start, source: source.unwrap_or(start) });
    }

    /// The key is complete; its value is written next.
    pub(super) fn end_key(&mut self) {
        if let Some(member) = self.members.last_mut() {
            member.key_end = self.out.len();
        }
        self.out.push(b':');
    }

    pub(super) fn end_member(&mut self) {
        if let Some(member) = self.members.last_mut() {
            member.end = self.out.len();
        }
    }

    pub(super) fn close_object(&mut self, object: OpenObject) -> Result<(), RepeatedKey> {
        let members = &mut self.members[object.first_member..];
        let out = &self.out;
        let in_order = |left: &Member, right: &Member| compare_keys(left.key(out), right.key(out)).is_lt();
        if !members.is_sorted_by(in_order) {
            members.sort_unstable_by(|left, right| {
                compare_keys(left.key(out), right.key(out)).then(left.source.cmp(&right.source))
            });
            if let Some(at) = first_repetition(members, out) {
                return Err(RepeatedKey { at });
            }
            self.reordered.reserve(out.len() - object.body + 1);
            for member in &*members {
                self.reordered.extend_from_slice(&out[member.start..member.end]);
                self.reordered.push(b',');
            }
            self.reordered.pop();
            self.out.truncate(object.body);
            self.out.append(&mut self.reordered);
        }
        self.members.truncate(object.first_member);
        self.out.push(b'}');
        Ok(())
    }
}

/// Of all members that repeat a key, the one mentioned first.
fn first_repetition(sorted: &[Member], out: &[u8]) -> Option<usize> {
    sorted.windows(2).filter(|pair| pair[0].key(out) == pair[1].key(out)).map(|pair| pair[1].source).min()
}
