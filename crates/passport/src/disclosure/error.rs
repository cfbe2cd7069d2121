//! Why a bundle was not believed.

/// Why a bundle or a single proof was not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DisclosureError {
    /// Not of this format.
    #[error("the bundle is malformed at {pointer}: expected {expected}")]
    Malformed {
        /// Where.
        pointer: String,
        /// What should have stood there.
        expected: &'static str,
    },
    /// What is shown of a section does not hash to the root that was signed.
    #[error(
        "section {point} does not hash to its root in the receipt: something in it was changed, added or left out"
    )]
    Section {
        /// Which.
        point: u8,
    },
    /// The results do not hash to the root that was signed.
    #[error("the results do not hash to their root in the receipt")]
    Results,
    /// The roots in the receipt do not make its proof root.
    #[error("the roots in the receipt do not make its proof root")]
    ProofRoot,
    /// The receipt names another key than the one that is trusted.
    #[error("the receipt names the key {found}, trusted is {trusted}")]
    Key {
        /// The key in the receipt.
        found: String,
        /// The key that the caller trusts.
        trusted: String,
    },
    /// The signature is not that of the trusted key over this receipt.
    #[error("the signature is not that of the trusted key over this receipt")]
    Signature,
}

impl DisclosureError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "BUNDLE_MALFORMED",
            Self::Section { .. } => "SECTION_MISMATCH",
            Self::Results => "RESULTS_MISMATCH",
            Self::ProofRoot => "PROOF_ROOT_MISMATCH",
            Self::Key { .. } => "KEY_MISMATCH",
            Self::Signature => "SIGNATURE_INVALID",
        }
    }
}
