//! The application: its own connections, its own table, its own transactions.

use std::error::Error;

use bpc_eventstore::portable;
use bpc_worker::{Conn, Engine, Enqueue, Handler, JobId, TenantId};
use sqlx::{PgPool, SqlitePool};

use crate::send_receipt::{Receipt, SendReceipt};

/// An application has one of these; the example can show both.
pub enum Shop {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

/// An order and the job that came with it.
pub struct Placed {
    pub order: i64,
    pub job: JobId,
}

const CREATE: &str = "CREATE TABLE IF NOT EXISTS orders (
    number   BIGINT PRIMARY KEY,
    email    TEXT NOT NULL,
    receipts BIGINT NOT NULL DEFAULT 0)";

const INSERT: &str = "INSERT INTO orders (number, email)
    SELECT COALESCE(MAX(number), 0) + 1, $1 FROM orders RETURNING number";

impl Shop {
    pub async fn open(url: &str) -> Result<Shop, sqlx::Error> {
        let shop = if url.starts_with("sqlite:") {
            Shop::Sqlite(SqlitePool::connect(url).await?)
        } else {
            Shop::Postgres(PgPool::connect(url).await?)
        };
        match &shop {
            Shop::Postgres(pool) => sqlx::query(CREATE).execute(pool).await.map(drop)?,
            Shop::Sqlite(pool) => sqlx::query(CREATE).execute(pool).await.map(drop)?,
        }
        Ok(shop)
    }

    /// Take an order. One that is not paid is rolled back, and its job with it.
    pub async fn order(&self, engine: &Engine, email: &str, paid: bool) -> Result<Placed, Box<dyn Error>> {
        match self {
            Shop::Postgres(pool) => {
                let mut tx = pool.begin().await?;
                let placed = place(engine, (&mut tx).into(), email).await?;
                if paid {
                    tx.commit().await?
                } else {
                    tx.rollback().await?
                }
                Ok(placed)
            }
            Shop::Sqlite(pool) => {
                let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
                let placed = place(engine, (&mut tx).into(), email).await?;
                if paid {
                    tx.commit().await?
                } else {
                    tx.rollback().await?
                }
                Ok(placed)
            }
        }
    }

    /// How many receipts an order has had; nothing if there is no such order.
    pub async fn receipts(&self, order: i64) -> Result<Option<i64>, sqlx::Error> {
        let select = "SELECT receipts FROM orders WHERE number = $1";
        match self {
            Shop::Postgres(pool) => sqlx::query_scalar(select).bind(order).fetch_optional(pool).await,
            Shop::Sqlite(pool) => sqlx::query_scalar(select).bind(order).fetch_optional(pool).await,
        }
    }
}

/// The order and its job, in one transaction of the application.
async fn place(engine: &Engine, mut conn: Conn<'_>, email: &str) -> Result<Placed, Box<dyn Error>> {
    let order: i64 =
        portable!(&mut conn, c => sqlx::query_scalar(INSERT).bind(email).fetch_one(&mut **c).await)?;
    let receipt = Receipt { order, email: email.to_owned() };
    let job = Enqueue::new(SendReceipt::TYPE, &receipt)?;
    let enqueued = engine.enqueue_in(conn, TenantId::from_slug("shop"), "user:shop", job).await?;
    Ok(Placed { order, job: enqueued.job_id })
}
