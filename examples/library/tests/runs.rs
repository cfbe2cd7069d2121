//! The example runs and says what it should, on both databases.

use bpc_testkit::process::Bpc;

const EXAMPLE: &str = env!("CARGO_BIN_EXE_bpc-example-library");

bpc_testkit::on_both_databases! {
    async fn an_order_and_its_job_exist_together_or_not_at_all(db) {
        let example = Bpc::new(EXAMPLE, &db);
        assert_eq!(said(&example), expected(1));
        // Run again, it finds the first order in place and takes another.
        assert_eq!(said(&example), expected(2));
    }
}

#[test]
fn without_a_database_it_makes_one_in_a_temporary_directory() {
    let example = Bpc::without_database(EXAMPLE);
    let directory = example.directory().to_owned();
    let lines = said(&example.env("TMPDIR", &directory));
    let (first, rest) = lines.split_first().expect("output");
    assert!(first.starts_with(&format!("the database is sqlite://{}", directory.display())), "{first}");
    assert_eq!(rest, expected(1));
}

/// What it prints when the order that stays has this number.
fn expected(order: u32) -> Vec<String> {
    let unpaid = order + 1;
    vec![
        format!("order {order} is placed, and so is its job"),
        format!("order {unpaid} is rolled back, and so is its job"),
        format!("mail to ada@example.com: your receipt for order {order}"),
        "the worker ran 1 job(s), 1 succeeded".to_owned(),
        format!("order {order}: 1 receipt(s), its job is SUCCEEDED"),
        format!("order {unpaid}: no order and no job"),
    ]
}

/// What it prints, line by line, without the delivery id, which is another every time.
fn said(example: &Bpc) -> Vec<String> {
    let output = example.run::<&str>([]).expect_success();
    let without_id = |line: &str| line.split(" (delivery ").next().unwrap_or_default().to_owned();
    output.stdout.lines().map(without_id).collect()
}
