//! Several writes in one statement, so that a batch costs one round trip (and, alone, needs no
//! transaction around it). Each part stays a statement of its own in its own file.

use std::fmt::Write;

use sqlx::postgres::PgArguments;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};

use crate::error::StoreError;

use super::{AddResult, Args, AtHand};

/// Data-modifying parts, run together as `WITH p1 AS (..), p2 AS (..) SELECT ..`. All see the
/// database as it was before the statement, so parts must touch different rows.
#[derive(Default)]
pub struct Composed {
    sql: String,
    parts: usize,
    bound: usize,
    arguments: PgArguments,
    last: String,
}

impl Composed {
    /// Add one writing statement, whose parameters count from `$1`, and bind them.
    pub fn part(
        &mut self,
        statement: &str,
        bind: impl FnOnce(&mut Args<'_>) -> AddResult,
    ) -> Result<(), StoreError> {
        self.parts += 1;
        let open = if self.parts == 1 { "WITH " } else { ",\n" };
        write!(self.sql, "{open}p{} AS (", self.parts).expect("strings grow");
        renumber(statement, self.bound, &mut self.sql);
        self.sql.push_str("\n)");
        self.bind(bind)
    }

    /// What is selected in the end, instead of nothing.
    pub fn select(
        &mut self,
        statement: &str,
        bind: impl FnOnce(&mut Args<'_>) -> AddResult,
    ) -> Result<(), StoreError> {
        renumber(statement, self.bound, &mut self.last);
        self.bind(bind)
    }

    /// Run it inside a transaction.
    pub async fn execute(self, conn: &mut PgConnection) -> Result<(), StoreError> {
        let (sql, arguments) = self.finish();
        sqlx::query_with(AssertSqlSafe(sql), arguments).execute(conn).await?;
        Ok(())
    }

    /// Run it alone: one round trip, durable when it returns.
    pub async fn execute_alone(self, pool: &PgPool, at_hand: &AtHand) -> Result<(), StoreError> {
        let (sql, arguments) = self.finish();
        at_hand.execute(pool, sqlx::query_with(AssertSqlSafe(sql), arguments)).await
    }

    fn finish(mut self) -> (String, PgArguments) {
        self.sql.push('\n');
        self.sql.push_str(if self.last.is_empty() { "SELECT 1" } else { &self.last });
        (self.sql, self.arguments)
    }

    fn bind(&mut self, bind: impl FnOnce(&mut Args<'_>) -> AddResult) -> Result<(), StoreError> {
        bind(&mut Args(&mut self.arguments)).map_err(sqlx::Error::Encode)?;
        self.bound = sqlx::Arguments::len(&self.arguments);
        Ok(())
    }
}

/// Copy a statement, counting its parameters on from `bound`.
fn renumber(statement: &str, bound: usize, out: &mut String) {
    let mut rest = statement;
    while let Some(at) = rest.find('$') {
        let digits = rest[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = rest[at + 1..at + 1 + digits].parse().unwrap_or(0);
        out.push_str(&rest[..at]);
        write!(out, "${}", number + bound).expect("strings grow");
        rest = &rest[at + 1 + digits..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_count_on() {
        let mut out = String::new();
        renumber("VALUES ($1::int[], $10) WHERE a = $2", 8, &mut out);
        assert_eq!(out, "VALUES ($9::int[], $18) WHERE a = $10");
    }
}
