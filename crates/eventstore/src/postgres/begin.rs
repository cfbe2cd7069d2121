//! Beginning a transaction, whatever becomes of who asked for it.

use std::pin::Pin;
use std::task::{Context, Poll};

use sqlx::{PgPool, Postgres, Transaction};
use tokio::runtime::Handle;

type Began = Result<Transaction<'static, Postgres>, sqlx::Error>;

/// Begin a transaction by this statement.
///
/// sqlx counts a transaction once the server has answered. If the wait for that is given up, by a timeout
/// around a handler say, it would put the connection back as one without a transaction, and whoever gets it
/// next would go on inside: read-only, or with the snapshot of somebody else. So what was begun is waited for
/// in any case, and then undone.
pub(crate) fn begin(pool: &PgPool, statement: &'static str) -> impl Future<Output = Began> + Send + use<> {
    let pool = pool.clone();
    ToTheEnd { future: Some(Box::pin(async move { pool.begin_with(statement).await })), is_begun: false }
}

struct ToTheEnd {
    /// Until it is done.
    future: Option<Pin<Box<dyn Future<Output = Began> + Send>>>,
    is_begun: bool,
}

impl Future for ToTheEnd {
    type Output = Began;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Began> {
        self.is_begun = true;
        let future = self.future.as_mut().expect("a future is not polled again when it is done");
        let began = future.as_mut().poll(cx);
        if began.is_ready() {
            self.future = None;
        }
        began
    }
}

impl Drop for ToTheEnd {
    fn drop(&mut self) {
        let unfinished = self.future.take().filter(|_| self.is_begun);
        if let (Some(future), Ok(runtime)) = (unfinished, Handle::try_current()) {
            runtime.spawn(future);
        }
    }
}
