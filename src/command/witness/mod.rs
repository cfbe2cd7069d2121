//! `bpc witness`: sign for other logs, or have one's own signed.

mod ask;
mod serve;

use crate::call::Call;
use crate::cli::WitnessCommand;
use crate::error::{Exit, Failure};

pub async fn run(call: &Call<'_>, command: WitnessCommand) -> Result<Exit, Failure> {
    match command {
        WitnessCommand::Serve { listen, key, name, state, logs } => {
            serve::run(call, listen, &key, name.as_deref(), &state, logs).await
        }
        WitnessCommand::Ask { url, key } => ask::run(call, &url, key).await,
    }
}
