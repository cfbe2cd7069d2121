//! QR codes: the proof code, which carries the hashes of a passport, and the web link that the law
//! asks for.

mod code;
mod text;

pub use code::{QrCode, QrError};
pub use text::{MAX_LINK_LENGTH, ProofCode, ProofCodeError, web_link};
