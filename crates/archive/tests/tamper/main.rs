//! What somebody can do who holds an archive, what verify says to it, and that an auditor without this program says
//! the same. Needs `python3`, `zstd` and `openssl`.

#[path = "../../../eventstore/tests/conformance/verify/alike.rs"]
#[allow(dead_code, reason = "each test file uses its own part")]
mod alike;
#[path = "../../../eventstore/tests/conformance/common.rs"]
#[allow(dead_code, reason = "each test file uses its own part")]
mod common;
#[path = "../../../eventstore/tests/tamper/scene.rs"]
#[allow(dead_code, reason = "each test file uses its own part")]
mod scene;

#[path = "../common/mod.rs"]
mod made_up;

mod bytes;
mod files;
mod opinion;
mod segments;
mod table;
