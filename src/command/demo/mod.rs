//! soon
use crate::{
    call::Call,
    cli::DemoArgs,
    error::{Exit, Failure},
};
pub async fn run(_call: &Call<'_>, _args: DemoArgs) -> Result<Exit, Failure> {
    Ok(Exit::Done)
}
