//! Waiting for something that happens elsewhere.

use std::panic::Location;
use std::time::Duration;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// What a look at the world may answer: `Some` value or `true` ends the wait.
pub trait Outcome {
    /// What the wait yields.
    type Value;

    /// The value, if this answer ends the wait.
    fn into_value(self) -> Option<Self::Value>;
}

impl<T> Outcome for Option<T> {
    type Value = T;

    fn into_value(self) -> Option<T> {
        self
    }
}

impl Outcome for bool {
    type Value = ();

    fn into_value(self) -> Option<()> {
        self.then_some(())
    }
}

/// Looks every ten milliseconds until `probe` answers `true` or `Some` value, and yields the value.
///
/// A look that hangs counts against the timeout like any other.
///
/// # Panics
///
/// When `timeout` has passed, naming the line that waited.
///
/// ```
/// # use std::time::Duration;
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let mut looks = 0;
/// let third = bpc_testkit::eventually(Duration::from_secs(5), || {
///     looks += 1;
///     let look = looks;
///     async move { (look == 3).then_some(look) }
/// })
/// .await;
/// assert_eq!(third, 3);
/// # });
/// ```
#[track_caller]
pub fn eventually<F, Fut>(
    timeout: Duration,
    mut probe: F,
) -> impl Future<Output = <Fut::Output as Outcome>::Value>
where
    F: FnMut() -> Fut,
    Fut: Future<Output: Outcome>,
{
    let caller = Location::caller();
    async move {
        let look = async {
            loop {
                if let Some(value) = probe().await.into_value() {
                    return value;
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::time::timeout(timeout, look)
            .await
            .unwrap_or_else(|_| panic!("{caller}: not so after {timeout:?}"))
    }
}
