//! DRILL_FAIL: fails, in the way it is told to.

use bpc_worker::{Context, Effects, Handler, HandlerError, Job};
use serde::Deserialize;

use crate::check::invalid;
use crate::drill::Drill;

pub(crate) const DRILL: Drill = Drill {
    job_type: Fail::TYPE,
    example: r#"{"code":"DRILL_FAILURE","retryable":false}"#,
    does: "fails with that code, for good or to be tried again; both fields can be left out",
    register: |registry| {
        registry.job(Fail);
    },
};

const CODE_LEN_MAX: usize = 64;

/// Fails.
#[derive(Clone, Copy, Debug)]
pub struct Fail;

/// How.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = r#"an object such as {"code":"DRILL_FAILURE","retryable":false}"#
)]
pub struct Payload {
    /// The code it fails with, in upper snake case like all of them.
    pub code: String,
    /// May another attempt help? It will not, but that is what is said.
    pub retryable: bool,
}

impl Default for Payload {
    fn default() -> Self {
        Payload { code: "DRILL_FAILURE".to_owned(), retryable: false }
    }
}

impl Handler for Fail {
    const TYPE: &'static str = "DRILL_FAIL";
    type Payload = Payload;

    async fn handle(&self, job: &Job<Payload>, _cx: &Context) -> Result<Effects, HandlerError> {
        let Payload { code, retryable } = job.payload.clone();
        if !is_code(&code) {
            let rule = "use 1 to 64 of A-Z, 0-9 and _";
            return Err(invalid(format!("code {code:?} is not allowed: {rule}")));
        }
        let fail = if retryable { HandlerError::retryable } else { HandlerError::permanent };
        Err(fail(code, "it was asked to fail"))
    }
}

fn is_code(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=CODE_LEN_MAX).contains(&text.len()) && text.bytes().all(allowed)
}
