//! soon
use crate::{
    call::Call,
    cli::BenchArgs,
    error::{Exit, Failure},
};
pub async fn run(_call: &Call<'_>, _args: BenchArgs) -> Result<Exit, Failure> {
    Ok(Exit::Done)
}
