//! One drill as people see it in the command's help.

use bpc_worker::Registry;

/// A job type of this pack: how to ask for it, and what it then does.
#[derive(Clone, Copy, Debug)]
pub struct Drill {
    /// The job type.
    pub job_type: &'static str,
    /// A payload that works as it stands.
    pub example: &'static str,
    /// One line for people.
    pub does: &'static str,
    /// Beside the words, so that a drill cannot be listed and not be there.
    pub(crate) register: fn(&mut Registry),
}
