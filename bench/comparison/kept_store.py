"""A store of the peers' driver that goes on with the database it finds."""


def kept_store(driver, system):
    """Measuring on it empties nothing."""

    class KeptStore(driver.Store):
        def reset(self):
            if self.db is None:
                self.db = driver.psycopg.connect(driver.PG, autocommit=True)

        def kept(self):
            return {}  # counting tens of millions of rows would take longer than the measurement

    return KeptStore(system)


def execute(driver, *statements):
    """On the server, outside the database that is measured."""
    with driver.psycopg.connect(driver.PG_ADMIN, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
