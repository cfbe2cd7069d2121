//! A job type: what it carries, what it does, what it wants committed.

use bpc_worker::{Context, Effects, Handler, HandlerError, Job, SqlValue};
use serde::{Deserialize, Serialize};

/// What the job carries.
#[derive(Serialize, Deserialize)]
pub struct Receipt {
    pub order: i64,
    pub email: String,
}

/// Sends the receipt for an order.
pub struct SendReceipt;

impl Handler for SendReceipt {
    const TYPE: &'static str = "SEND_RECEIPT";
    type Payload = Receipt;

    async fn handle(&self, job: &Job<Receipt>, _cx: &Context) -> Result<Effects, HandlerError> {
        let Receipt { order, email } = &job.payload;
        // The world outside hears of it at least once: after a crash it may be told again, and the
        // delivery id, the same for every attempt, lets it notice.
        println!("mail to {email}: your receipt for order {order} (delivery {})", job.delivery_id());
        // The database hears of it exactly once: this is committed together with the job's success.
        let count = "UPDATE orders SET receipts = receipts + 1 WHERE number = $1";
        Ok(Effects::none().sql(count, vec![SqlValue::Integer(*order)]))
    }
}
