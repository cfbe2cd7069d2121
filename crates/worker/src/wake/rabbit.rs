//! The RabbitMQ trigger, both ends: whoever enqueues publishes, workers listen. Without a broker
//! everything goes on by polling.

use std::time::Duration;

use futures_util::StreamExt;
use lapin::options::{
    BasicConsumeOptions, BasicPublishOptions, ConfirmSelectOptions, ExchangeDeclareOptions, QueueBindOptions,
    QueueDeclareOptions,
};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties, ExchangeKind};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use bpc_core::JobId;

use crate::backoff::Backoff;

use super::{Hint, Hints, RabbitOptions};

const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Pass triggers on until `stop`.
pub(crate) async fn consume(options: RabbitOptions, hints: Hints, stop: CancellationToken) {
    let mut backoff = Backoff::default();
    while !stop.is_cancelled() {
        let ended = tokio::select! {
            () = stop.cancelled() => return,
            ended = session(&options, &hints, &mut backoff) => ended,
        };
        if backoff.is_first() {
            let error =
                ended.err().map_or_else(|| "it closed the connection".to_owned(), |error| error.to_string());
            tracing::warn!(error, "the RabbitMQ trigger is off, polling goes on");
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = backoff.wait() => {}
        }
    }
}

async fn session(options: &RabbitOptions, hints: &Hints, backoff: &mut Backoff) -> lapin::Result<()> {
    let (_connection, channel) = connect(options).await?;
    // A queue of its own, gone with the connection: every worker hears every trigger.
    let own = QueueDeclareOptions { exclusive: true, auto_delete: true, ..QueueDeclareOptions::default() };
    let queue = channel.queue_declare("".into(), own, FieldTable::default()).await?;
    let name = queue.name().clone();
    let (exchange, key) = (options.exchange.as_str(), options.routing_key.as_str());
    let bind = QueueBindOptions::default();
    channel.queue_bind(name.clone(), exchange.into(), key.into(), bind, FieldTable::default()).await?;
    let consume = BasicConsumeOptions { no_ack: true, exclusive: true, ..BasicConsumeOptions::default() };
    let mut triggers = channel.basic_consume(name, "".into(), consume, FieldTable::default()).await?;
    tracing::info!(exchange, routing_key = key, "listening for RabbitMQ triggers");
    backoff.reset();
    hints.send(Hint::Anything);
    while let Some(delivery) = triggers.next().await {
        delivery?;
        // What the message says is not trusted; that it came is the hint.
        hints.send(Hint::Anything);
    }
    Ok(())
}

async fn connect(options: &RabbitOptions) -> lapin::Result<(Connection, Channel)> {
    let connect = Connection::connect(&options.url, ConnectionProperties::default());
    // The client itself would wait for ever for a broker that takes the connection and says nothing.
    let late = |_| std::io::Error::from(std::io::ErrorKind::TimedOut);
    let connection = tokio::time::timeout(CONNECT_MAX, connect).await.map_err(late)??;
    let channel = connection.create_channel().await?;
    let durable = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
    let exchange = options.exchange.as_str().into();
    channel.exchange_declare(exchange, ExchangeKind::Topic, durable, FieldTable::default()).await?;
    Ok((connection, channel))
}

/// Tells workers elsewhere, through the broker, that a job was enqueued. Never in the way of the
/// enqueue: a trigger that cannot be sent is dropped.
#[derive(Clone, Debug)]
pub struct Trigger {
    notes: mpsc::Sender<Note>,
}

#[derive(Debug)]
enum Note {
    Enqueued(JobId),
    Flush(oneshot::Sender<()>),
}

/// Triggers that wait to be sent; a worker needs only one of a burst.
const WAITING_MAX: usize = 16;

impl Trigger {
    /// Start publishing, on the runtime that this is called on.
    pub fn start(options: RabbitOptions) -> Self {
        let (notes, waiting) = mpsc::channel(WAITING_MAX);
        tokio::spawn(publish(options, waiting));
        Trigger { notes }
    }

    pub(crate) fn enqueued(&self, job: JobId) {
        let _ = self.notes.try_send(Note::Enqueued(job));
    }

    /// Wait until everything so far is sent or dropped. For programs that end right after an enqueue.
    pub async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        if self.notes.send(Note::Flush(done)).await.is_ok() {
            let _ = flushed.await;
        }
    }
}

async fn publish(options: RabbitOptions, mut notes: mpsc::Receiver<Note>) {
    let mut open: Option<(Connection, Channel)> = None;
    while let Some(note) = notes.recv().await {
        let job = match note {
            Note::Enqueued(job) => job,
            Note::Flush(done) => {
                let _ = done.send(());
                continue;
            }
        };
        match send(&options, open.take(), job).await {
            Ok(connected) => open = Some(connected),
            Err(error) => tracing::warn!(%error, "the RabbitMQ trigger was not sent, workers will poll"),
        }
    }
}

async fn send(
    options: &RabbitOptions,
    open: Option<(Connection, Channel)>,
    job: JobId,
) -> lapin::Result<(Connection, Channel)> {
    let (connection, channel) = match open {
        Some(open) => open,
        None => {
            let (connection, channel) = connect(options).await?;
            // The broker says when it has the message: only then may a program end right after.
            channel.confirm_select(ConfirmSelectOptions::default()).await?;
            (connection, channel)
        }
    };
    let body = format!("{{\"job_id\":\"{job}\"}}");
    let (exchange, key) = (options.exchange.as_str().into(), options.routing_key.as_str().into());
    let properties = BasicProperties::default().with_content_type("application/json".into());
    let publish = BasicPublishOptions::default();
    channel.basic_publish(exchange, key, publish, body.as_bytes(), properties).await?.await?;
    Ok((connection, channel))
}
