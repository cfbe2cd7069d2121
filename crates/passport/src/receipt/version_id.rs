//! The id of a passport version follows from what it is compiled from.

use bpc_core::{Hash, Timestamp};
use uuid::Uuid;

use crate::hash::sha256;
use crate::json::Json;
use crate::value::Date;

/// The UUID, version 8, whose 122 free bits are the first 122 of `SHA-256("BPC-PV-1" 00 ||
/// canonical({as_of, build_id, issued_at, passport_id, rules_hash, snapshot_hash}))`. A retry of a
/// compilation therefore makes the same row again, not another.
#[must_use]
pub fn passport_version_id(
    passport_id: Uuid,
    snapshot_hash: Hash,
    rules_hash: Hash,
    build_id: &str,
    issued_at: Timestamp,
    as_of: Date,
) -> Uuid {
    let inputs = Json::object([
        ("as_of", Json::text(as_of.to_string())),
        ("build_id", Json::text(build_id)),
        ("issued_at", Json::text(issued_at.to_string())),
        ("passport_id", Json::text(passport_id.to_string())),
        ("rules_hash", Json::text(rules_hash.to_string())),
        ("snapshot_hash", Json::text(snapshot_hash.to_string())),
    ]);
    let inputs = inputs.canonical().expect("texts are canonical");
    let digest = sha256(&[b"BPC-PV-1\0", inputs.as_bytes()]);
    Uuid::from_u128(around_version_and_variant(&digest))
}

/// 48 bits, version 8, 12 bits, variant 10, 62 bits.
fn around_version_and_variant(digest: &Hash) -> u128 {
    let first: [u8; 16] = digest.0[..16].try_into().expect("a digest has 32 bytes");
    let bits = u128::from_be_bytes(first) >> 6;
    let low_62 = (1 << 62) - 1;
    let (high, middle, low) = (bits >> 74, bits >> 62 & 0xFFF, bits & low_62);
    high << 80 | 0x8 << 76 | middle << 64 | 0b10 << 62 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_what_the_format_says() {
        let id = passport_version_id(
            Uuid::from_u128(1),
            Hash([2; 32]),
            Hash([3; 32]),
            "bpc-0.1.0",
            "2027-02-18T00:00:00.000000Z".parse().expect("a moment"),
            "2027-02-18".parse().expect("a day"),
        );
        // By the few lines of Python in the format's description.
        assert_eq!(id.to_string(), "0983ee55-699a-8c34-b147-a1ecb616931f");
        assert_eq!(id.get_version_num(), 8);
    }
}
