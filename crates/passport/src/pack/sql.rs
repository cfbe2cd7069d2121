//! One statement of a view, on either database.

use bpc_eventstore::{Conn, portable};
use bpc_worker::{SqlValue, StoreError};

/// Run it with `$1`, `$2` ... as its parameters.
pub(super) async fn run<const N: usize>(
    conn: &mut Conn<'_>,
    statement: &'static str,
    parameters: [SqlValue; N],
) -> Result<(), StoreError> {
    portable!(conn, c => {
        let mut query = sqlx::query(statement);
        for parameter in parameters {
            query = match parameter {
                SqlValue::Integer(value) => query.bind(value),
                SqlValue::Text(value) => query.bind(value),
                SqlValue::Bytes(value) => query.bind(value),
                SqlValue::Uuid(value) => query.bind(value),
            };
        }
        query.execute(&mut **c).await.map(drop)
    })?;
    Ok(())
}
