//! `bpc keys list`.

use bpc_eventstore::seal::{KeyEpoch, Keyring, Standing, sealed_head};
use serde::Serialize;

use crate::call::Call;
use crate::error::{Exit, Failure};
use crate::output::{Table, count};

pub async fn run(call: &Call<'_>) -> Result<Exit, Failure> {
    let store = call.open().await?;
    let mut tx = store.begin_read().await?;
    let keyring = Keyring::load(&mut tx.conn()).await?;
    let size = sealed_head(&mut tx.conn()).await?.size;
    let in_use = keyring.at_size(size).map(|epoch| epoch.version);
    let mut table = Table::new(["KEY", "SINCE", "WHY IT COUNTS", "STATE"]);
    for epoch in &keyring.epochs {
        let line = KeyLine::of(epoch, in_use == Some(epoch.version));
        call.output.result(&line, |output| {
            let since = match line.first_size {
                Some(size) => format!("size {}", count(size)),
                None => "not sealed yet".to_owned(),
            };
            let state = match line.in_use {
                true => output.paint().good("in use"),
                false => output.paint().faint("not in use"),
            };
            table.row([
                line.vkey.clone().unwrap_or_else(|| line.public_key.to_owned()),
                since,
                why(epoch),
                state,
            ]);
        });
    }
    if keyring.epochs.is_empty() {
        call.output.line("no keys: `bpc init` makes the first");
    } else {
        table.print(call.output);
    }
    for (version, reason) in &keyring.refused {
        let refused = RefusedLine { version: version.0, refused: reason };
        call.output.result(&refused, |output| {
            let mark = output.paint().bad("refused");
            output.line(format_args!("{mark} version {version} of the log's own stream: {reason}"));
        });
    }
    Ok(if keyring.refused.is_empty() { Exit::Done } else { Exit::Findings })
}

/// The names are part of the contract.
#[derive(Serialize)]
struct KeyLine<'a> {
    origin: &'a str,
    public_key: &'a str,
    /// What others check with; left out if the public key is no key.
    #[serde(skip_serializing_if = "Option::is_none")]
    vkey: Option<String>,
    /// Smallest size of a checkpoint that it signs; null while its event is not sealed.
    first_size: Option<u64>,
    version: u32,
    standing: &'static str,
    in_use: bool,
}

/// A hand-over that does not hold.
#[derive(Serialize)]
struct RefusedLine<'a> {
    version: u32,
    refused: &'a str,
}

impl<'a> KeyLine<'a> {
    fn of(epoch: &'a KeyEpoch, in_use: bool) -> Self {
        KeyLine {
            origin: &epoch.origin,
            public_key: &epoch.public_key,
            vkey: epoch.verifiers().map(|[signature, _]| signature.to_string()),
            first_size: epoch.first_size,
            version: epoch.version.0,
            standing: match epoch.standing {
                Standing::First => "first",
                Standing::HandedOver => "handed_over",
                Standing::Reopened { .. } => "reopened",
            },
            in_use,
        }
    }
}

fn why(epoch: &KeyEpoch) -> String {
    match &epoch.standing {
        Standing::First => "the log's first".to_owned(),
        Standing::HandedOver => "the key before signed the hand-over".to_owned(),
        Standing::Reopened { is_vouched: true, .. } => "new origin, the old key vouches".to_owned(),
        Standing::Reopened { is_vouched: false, .. } => "new origin, nobody vouches".to_owned(),
    }
}
