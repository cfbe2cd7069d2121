//! Pointing a PostgreSQL address at another database.

/// `url` with the name of its database replaced; its parameters stay.
pub(crate) fn with_database(url: &str, database: &str) -> String {
    let (address, parameters) = match url.split_once('?') {
        Some((address, parameters)) => (address, format!("?{parameters}")),
        None => (url, String::new()),
    };
    let authority = address.find("://").map_or(0, |scheme| scheme + 3);
    let server = match address[authority..].find('/') {
        Some(path) => &address[..authority + path],
        None => address,
    };
    format!("{server}/{database}{parameters}")
}

#[cfg(test)]
mod tests {
    use super::with_database;

    #[test]
    fn the_name_is_replaced() {
        let url = with_database("postgres://me@127.0.0.1:5432/postgres", "fresh");
        assert_eq!(url, "postgres://me@127.0.0.1:5432/fresh");
    }

    #[test]
    fn a_missing_name_is_added() {
        let url = with_database("postgres://127.0.0.1:5432", "fresh");
        assert_eq!(url, "postgres://127.0.0.1:5432/fresh");
    }

    #[test]
    fn parameters_stay() {
        let url = with_database("postgres:///postgres?host=/run/pg&port=5433", "fresh");
        assert_eq!(url, "postgres:///fresh?host=/run/pg&port=5433");
    }
}
