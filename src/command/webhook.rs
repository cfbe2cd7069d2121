//! `bpc webhook`: who is told what.

use bpc_webhooks::{
    add_endpoint, deliveries, disable_endpoint, endpoints, redeliver, subscribe, unsubscribe,
};
use serde_json::json;

use crate::call::Call;
use crate::cli::{EndpointCommand, WebhookCommand};
use crate::error::{Exit, Failure};
use crate::output::{Table, moment};

pub async fn run(call: &Call<'_>, command: WebhookCommand) -> Result<Exit, Failure> {
    let store = call.open_or_create().await?;
    let tenant = call.tenant(&store).await?.tenant_id;
    let (engine, output) = (call.engine(&store), call.output);
    match command {
        WebhookCommand::Endpoint(EndpointCommand::Add { url }) => {
            let settings = call.settings.packs.webhooks(&call.database);
            let added = add_endpoint(&engine, tenant, &call.actor, &settings, &url).await?;
            output.result(&json!({"endpoint_id": added.id, "secret": added.secret}), |output| {
                output.line(format_args!("endpoint  {}", added.id));
                output.line(format_args!("secret    {}", added.secret));
                output.remark("the secret is shown this once: give it to the receiver");
            });
        }
        WebhookCommand::Endpoint(EndpointCommand::List) => {
            let mut table = Table::new(["ENDPOINT", "ACTIVE", "SINCE", "EVENTS", "URL"]);
            for row in endpoints(&store, tenant).await? {
                let subscriptions: Vec<_> = row
                    .subscriptions
                    .iter()
                    .map(|(id, event)| json!({"subscription_id": id, "event_type": event}))
                    .collect();
                let line = json!({"endpoint_id": row.id, "url": row.url, "active": row.is_active,
                                  "created_at": row.created_at.to_string(), "subscriptions": subscriptions});
                output.result(&line, |_| {
                    let events: Vec<&str> =
                        row.subscriptions.iter().map(|(_, event)| event.as_str()).collect();
                    let active = if row.is_active { "yes" } else { "no" };
                    table.row([
                        row.id.to_string(),
                        active.to_owned(),
                        moment(row.created_at),
                        events.join(", "),
                        row.url.clone(),
                    ]);
                });
            }
            table.print(output);
        }
        WebhookCommand::Endpoint(EndpointCommand::Disable { endpoint }) => {
            disable_endpoint(&engine, tenant, &call.actor, endpoint).await?;
            output.result(&json!({"endpoint_id": endpoint, "active": false}), |output| {
                output.line(format_args!("disabled endpoint {endpoint}"));
            });
        }
        WebhookCommand::Subscribe { endpoint, event } => {
            let done = subscribe(&engine, tenant, &call.actor, endpoint, &event).await?;
            output.result(&json!({"subscription_id": done.id, "created": done.created}), |output| {
                let verb = if done.created { "subscribed" } else { "exists already" };
                output.line(format_args!("subscription  {} {}", done.id, output.paint().faint(verb)));
            });
        }
        WebhookCommand::Unsubscribe { subscription } => {
            unsubscribe(&engine, tenant, &call.actor, subscription).await?;
            output.result(&json!({"subscription_id": subscription, "active": false}), |output| {
                output.line(format_args!("unsubscribed {subscription}"));
            });
        }
        WebhookCommand::Deliveries { limit } => {
            let mut table =
                Table::new(["DELIVERY", "EVENT", "STATUS", ">HTTP", "ERROR", "REQUESTED", "ENDPOINT"]);
            for row in deliveries(&store, tenant, limit).await? {
                let line = json!({"delivery_id": row.id, "endpoint_id": row.endpoint_id, "event_id": row.event_id,
                                  "event_type": row.event_type, "status": row.status,
                                  "http_status": row.http_status, "error_code": row.error_code,
                                  "requested_at": row.requested_at.to_string()});
                output.result(&line, |_| {
                    table.row([
                        row.id.to_string(),
                        row.event_type.clone(),
                        row.status.clone(),
                        row.http_status.map_or_else(String::new, |status| status.to_string()),
                        row.error_code.clone().unwrap_or_default(),
                        moment(row.requested_at),
                        row.endpoint_id.to_string(),
                    ]);
                });
            }
            table.print(output);
        }
        WebhookCommand::Redeliver { delivery } => {
            let job = redeliver(&engine, tenant, &call.actor, delivery).await?;
            output.result(&json!({"delivery_id": delivery, "job_id": job.to_string()}), |output| {
                output.line(format_args!("job  {job}"));
            });
        }
    }
    Ok(Exit::Done)
}
