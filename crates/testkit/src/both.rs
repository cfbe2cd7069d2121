//! One test, two databases.

/// Turns each function into two tests, `postgres::name` and `sqlite::name`, each handed its own
/// fresh [`TestDatabase`](crate::TestDatabase).
///
/// Use it once in a module, for all functions there: it declares the modules `postgres` and
/// `sqlite`. Attributes such as `#[ignore]` and doc comments go to both tests, and a function may
/// return what a test may. The calling crate needs tokio with its macros.
///
/// ```
/// bpc_testkit::on_both_databases! {
///     /// Nobody was here before.
///     async fn a_new_database_has_an_address(db) {
///         assert!(db.url().contains("://"));
///     }
///
///     async fn an_error_fails_the_test(db) -> Result<(), std::num::ParseIntError> {
///         let _ = db.kind();
///         "1".parse::<u8>()?;
///         Ok(())
///     }
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! on_both_databases {
    ($(
        $(#[$attribute:meta])*
        async fn $name:ident($db:ident $(: $type:ty)?) $(-> $result:ty)? $body:block
    )+) => {
        $(
            async fn $name($db: $crate::TestDatabase) $(-> $result)? $body
        )+

        mod postgres {
            $(
                $(#[$attribute])*
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() $(-> $result)? {
                    super::$name($crate::TestDatabase::postgres().await).await
                }
            )+
        }

        mod sqlite {
            $(
                $(#[$attribute])*
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() $(-> $result)? {
                    super::$name($crate::TestDatabase::sqlite()).await
                }
            )+
        }
    };
}
