//! Waiting for something, but not for ever.

use std::cell::Cell;
use std::future::pending;
use std::time::Duration;

use bpc_testkit::eventually;

#[tokio::test]
async fn it_looks_until_there_is_a_value() {
    let looks = Cell::new(0);
    let value = eventually(Duration::from_secs(1), || async {
        looks.set(looks.get() + 1);
        (looks.get() == 5).then_some("fifth")
    })
    .await;
    assert_eq!((value, looks.get()), ("fifth", 5));
}

#[tokio::test]
#[should_panic(expected = "not so after 1s")]
async fn it_gives_up() {
    eventually(Duration::from_secs(1), || async { false }).await;
}

#[tokio::test]
#[should_panic(expected = "waiting.rs")]
async fn it_gives_up_on_a_look_that_hangs_and_names_the_caller() {
    eventually(Duration::from_secs(1), pending::<bool>).await;
}
