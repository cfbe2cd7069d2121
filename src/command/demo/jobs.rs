//! The jobs of the tour: one of every fate.

use bpc_core::{JobId, StreamId, TenantId};
use bpc_worker::{Due, Engine, Enqueue};
use serde_json::{Value, json};
use std::time::Duration;

use crate::call::Call;
use crate::error::Failure;
use crate::output::Table;

/// Those that the tour comes back to.
pub struct Mix {
    pub flaky: JobId,
    pub panics: JobId,
}

/// Enqueue one of each, and cancel one.
pub async fn enqueue_mix(call: &Call<'_>, engine: &Engine, tenant: TenantId) -> Result<Mix, Failure> {
    let mut desk = Desk { call, engine, tenant, table: Table::new(["JOB", "RECEIPT", "WHAT IT DOES"]) };
    let none = json!({});
    let order = desk.job("DRILL_NOOP", &none)?.key("order-4711");
    desk.hand_in(order.clone(), "does nothing, successfully").await?;
    desk.hand_in(order, "the same key: the same job, not a second one").await?;
    desk.hand_in(desk.job("DRILL_CHAIN", &json!({"depth": 3}))?, "enqueues a follow-up, three times").await?;
    let stream = StreamId::derived("drill", "tour");
    let emit = desk.job("DRILL_EMIT", &json!({"stream_id": stream, "events": 3}))?;
    desk.hand_in(emit, "commits three domain events with its success").await?;
    let flaky = desk.job("DRILL_FLAKY", &json!({"fail_times": 1}))?;
    let flaky = desk.hand_in(flaky, "fails once, is tried again after 2 s").await?;
    let code = json!({"code": "ORDER_UNKNOWN", "retryable": false});
    desk.hand_in(desk.job("DRILL_FAIL", &code)?, "fails for good").await?;
    let panics = desk.job("DRILL_PANIC", &none)?.max_attempts(1);
    let panics = desk.hand_in(panics, "panics, and has only one attempt").await?;
    let later = desk.job("DRILL_NOOP", &none)?.due(Due::After(Duration::from_secs(1)));
    desk.hand_in(later, "is due in 1 s").await?;
    let never = desk.job("DRILL_NOOP", &none)?.due(Due::After(Duration::from_secs(3600)));
    let never = desk.hand_in(never, "is due in an hour, and cancelled at once").await?;
    engine.cancel(tenant, &call.actor, never, Some("changed my mind".to_owned())).await?;
    desk.table.print(call.output);
    Ok(Mix { flaky, panics })
}

/// Where jobs are handed in.
struct Desk<'a> {
    call: &'a Call<'a>,
    engine: &'a Engine,
    tenant: TenantId,
    table: Table,
}

impl Desk<'_> {
    fn job(&self, job_type: &str, payload: &Value) -> Result<Enqueue, Failure> {
        Ok(Enqueue::new(job_type, payload)?)
    }

    async fn hand_in(&mut self, job: Enqueue, fate: &str) -> Result<JobId, Failure> {
        let enqueued = self.engine.enqueue(self.tenant, &self.call.actor, job).await?;
        let receipt = enqueued.event_hash.to_string()[..12].to_owned();
        self.table.row([enqueued.job_id.to_string(), receipt, fate.to_owned()]);
        Ok(enqueued.job_id)
    }
}
