//! What each level means, in words. The one place for it: terminal and page say the same.

/// One level.
pub struct Meaning {
    pub level: &'static str,
    /// What was looked at, beyond the level below.
    pub checks: &'static str,
    /// What cannot have happened if it held.
    pub rules_out: &'static str,
    /// What can still have happened.
    pub leaves_open: &'static str,
}

/// From the lowest to the highest.
pub const LEVELS: [Meaning; 4] = [
    Meaning {
        level: "L0",
        checks: "bytes, columns, chain, dense versions, legal history of every event",
        rules_out: "careless edits: a changed, lost or repeated event within a stream",
        leaves_open: "a forger who writes a stream anew, or removes its end or all of it",
    },
    Meaning {
        level: "L1",
        checks: "order, tree, every leaf, checkpoints, keys",
        rules_out: "edits, deletions, insertions, reordering and lost streams by anyone without the log's key",
        leaves_open: "whoever holds the log's key; an older copy of the whole log. A checkpoint that you kept closes both",
    },
    Meaning {
        level: "L2",
        checks: "the checkpoints that you kept",
        rules_out: "truncation, an older copy, and a rewrite with the log's key, up to the newest checkpoint you kept",
        leaves_open: "another history shown to somebody else. Witnesses close that",
    },
    Meaning {
        level: "L3",
        checks: "the word of the witnesses you named",
        rules_out: "different histories shown to different people, up to what the witnesses signed",
        leaves_open: "that what was recorded is true: the log shows what was recorded, not what was the case",
    },
];

/// Of that name.
pub fn of(level: &str) -> &'static Meaning {
    LEVELS.iter().find(|meaning| meaning.level == level).unwrap_or(&LEVELS[0])
}
