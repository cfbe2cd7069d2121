//! What the client is asked to do.

use std::time::Duration;

use crate::error::ClientError;

const USAGE: &str = "usage: bpc_client setup | enqueue-single N SECONDS | enqueue-bulk N BATCH SECONDS | \
                     enqueue-latency N MILLISECONDS | worker";

/// One command of the protocol.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Make the log on an empty database.
    Setup,
    /// One job at a time, each durable before the next.
    EnqueueSingle { jobs: u64, limit: Duration },
    /// So many jobs in one transaction.
    EnqueueBulk { jobs: u64, batch: u64, limit: Duration },
    /// One job now and then, each carrying the time of its call.
    EnqueueLatency { jobs: u64, spacing: Duration },
    /// Run jobs.
    Worker,
}

impl Command {
    /// The command in the arguments of the program.
    pub fn read(arguments: impl Iterator<Item = String>) -> Result<Self, ClientError> {
        let arguments: Vec<String> = arguments.collect();
        let (name, numbers) = arguments.split_first().ok_or(ClientError::Usage(USAGE))?;
        let numbers: Vec<u64> = numbers
            .iter()
            .map(|it| it.parse())
            .collect::<Result<_, _>>()
            .map_err(|_| ClientError::Usage(USAGE))?;
        match (name.as_str(), numbers.as_slice()) {
            ("setup", []) => Ok(Command::Setup),
            ("enqueue-single", &[jobs, seconds]) => {
                Ok(Command::EnqueueSingle { jobs, limit: Duration::from_secs(seconds) })
            }
            ("enqueue-bulk", &[jobs, batch, seconds]) if batch > 0 => {
                Ok(Command::EnqueueBulk { jobs, batch, limit: Duration::from_secs(seconds) })
            }
            ("enqueue-latency", &[jobs, millis]) => {
                Ok(Command::EnqueueLatency { jobs, spacing: Duration::from_millis(millis) })
            }
            ("worker", []) => Ok(Command::Worker),
            _ => Err(ClientError::Usage(USAGE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Command> {
        Command::read(line.split_whitespace().map(str::to_owned)).ok()
    }

    #[test]
    fn commands_have_their_numbers_and_no_others() {
        let bulk = Command::EnqueueBulk { jobs: 10, batch: 5, limit: Duration::from_secs(3) };
        assert_eq!(read("enqueue-bulk 10 5 3"), Some(bulk));
        assert_eq!(read("worker"), Some(Command::Worker));
        for wrong in
            ["", "work", "setup 1", "enqueue-single 10", "enqueue-single ten 3", "enqueue-bulk 10 0 3"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
