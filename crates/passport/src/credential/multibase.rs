//! Keys and signatures as text.

/// The multicodec prefix of an Ed25519 public key.
const ED25519_PUBLIC: [u8; 2] = [0xed, 0x01];

/// `did:key:z6Mk..` of an Ed25519 public key.
#[must_use]
pub fn did_key(public_key: &[u8; 32]) -> String {
    format!("did:key:{}", encoded(&[&ED25519_PUBLIC[..], public_key].concat()))
}

/// How a proof names the key: the DID, and the key in it.
#[must_use]
pub fn verification_method(public_key: &[u8; 32]) -> String {
    let did = did_key(public_key);
    let fragment = did.trim_start_matches("did:key:").to_owned();
    format!("{did}#{fragment}")
}

/// The public key that a `did:key`, with or without a fragment, stands for.
#[must_use]
pub fn key_from_did(did: &str) -> Option<[u8; 32]> {
    let (did, fragment) = did.split_once('#').map_or((did, None), |(did, fragment)| (did, Some(fragment)));
    let text = did.strip_prefix("did:key:")?;
    if fragment.is_some_and(|fragment| fragment != text) {
        return None;
    }
    let bytes = decoded(text)?;
    bytes.strip_prefix(&ED25519_PUBLIC)?.try_into().ok()
}

/// Base58 (Bitcoin) behind a `z`.
pub(super) fn encoded(bytes: &[u8]) -> String {
    format!("z{}", bs58::encode(bytes).into_string())
}

pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    // Base58 takes quadratic time; keys and signatures are short.
    let digits = text.strip_prefix('z').filter(|digits| digits.len() <= 128)?;
    bs58::decode(digits).into_vec().ok()
}
