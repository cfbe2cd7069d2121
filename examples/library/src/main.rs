//! BPC as a library: an order and the job that sends its receipt are written in one transaction of
//! the application, so that neither is ever there without the other.
//!
//! `cargo run -p bpc-example-library` works on an SQLite file in a temporary directory, or on the
//! database that `BPC_DATABASE_URL` names.

mod send_receipt;
mod shop;

use std::error::Error;

use bpc_eventstore::add_tenant;
use bpc_worker::{Engine, Registry, Store, StoreError, StoreOptions, TenantId, Worker, WorkerOptions};
use tokio_util::sync::CancellationToken;

use send_receipt::SendReceipt;
use shop::{Placed, Shop};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = database_url()?;
    let store = Store::connect(&url, StoreOptions::default()).await?;
    store.migrate().await?;
    match add_tenant(&store, "shop", "The shop", "user:shop").await {
        Ok(_) | Err(StoreError::TenantExists(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let mut registry = Registry::new();
    registry.job(SendReceipt);
    let engine = Engine::new(store, registry);

    let shop = Shop::open(&url).await?;
    let paid = shop.order(&engine, "ada@example.com", true).await?;
    println!("order {} is placed, and so is its job", paid.order);
    let unpaid = shop.order(&engine, "eve@example.com", false).await?;
    println!("order {} is rolled back, and so is its job", unpaid.order);

    // A service would run this beside its own work, until it is told to stop.
    let options = WorkerOptions { until_idle: true, ..WorkerOptions::named("example") };
    let report = Worker::new(engine.clone(), options).run(CancellationToken::new()).await?;
    println!("the worker ran {} job(s), {} succeeded", report.leased, report.succeeded);

    tell(&engine, &shop, &paid).await?;
    tell(&engine, &shop, &unpaid).await
}

/// Say what became of an order and its job.
async fn tell(engine: &Engine, shop: &Shop, placed: &Placed) -> Result<(), Box<dyn Error>> {
    let Placed { order, job } = placed;
    let receipts = shop.receipts(*order).await?;
    let history = engine.history(TenantId::from_slug("shop"), *job).await?;
    match (receipts, history) {
        (Some(receipts), Some(history)) => {
            println!("order {order}: {receipts} receipt(s), its job is {}", history.job.status().as_str());
        }
        (None, None) => println!("order {order}: no order and no job"),
        _ => return Err(format!("order {order}: one without the other, which cannot be").into()),
    }
    Ok(())
}

fn database_url() -> std::io::Result<String> {
    if let Ok(url) = std::env::var("BPC_DATABASE_URL") {
        return Ok(url);
    }
    let directory = std::env::temp_dir().join(format!("bpc-example-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let url = format!("sqlite://{}", directory.join("shop.db").display());
    println!("the database is {url}");
    Ok(url)
}
