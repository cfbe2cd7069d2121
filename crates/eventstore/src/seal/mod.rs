//! Sealing: the whole log in one order, under one root, signed.
//!
//! Streams are independent while they are written. A sealer numbers what is committed densely, in the order
//! of insertion, extends a Merkle tree over it and signs its size and root. Positions, once given, never
//! change. Everything here can be checked against the events and the signatures; `verify` does.

mod cosigned;
mod error;
mod found;
mod gaps;
mod handover;
mod key_file;
mod key_state;
mod keyring;
mod plan;
mod prove;
mod read;
mod sealer;
mod sign;
mod stored;
mod take;

pub use cosigned::keep_cosignatures;
pub use error::SealError;
pub use handover::{reopen, rotate_key};
pub use key_file::{KeyFile, KeyFileError, LogSecret};
pub use key_state::{KeyState, LastSigned};
pub use keyring::{KeyEpoch, Keyring, Standing, log_stream};
pub use prove::{
    ProveError, Proven, continued_from, prove_continued, prove_event, prove_job, stored_checkpoint,
};
pub use read::{SealedEvent, Unsealed, position_of, read_sealed, unsealed, unsealed_on};
pub use sealer::{SealOptions, Sealed, Sealer};
pub use stored::{
    SealedHead, StoredCheckpoint, Tiles, checkpoint_at, newest_checkpoint, read_tile, root_at, sealed_head,
};

pub(crate) use found::Found;
pub(crate) use gaps::{Generation, IdRange};
pub(crate) use plan::{OrderRow, Pending, Plan};
pub(crate) use read::{highest_sealed_id, order_rows};
