"""Many workers against few.

Each worker has a store, an engine and connections of its own and shares nothing with the others, as if it ran on
another machine; but all of them live in one process. As many processes as workers would measure how the operating system
shares two cores among hundreds of runtimes, which nobody runs on two cores.
"""
import threading

from .kept_store import execute

FEW = 4
# A worker leases, settles, seals and listens on connections of its own and has a pool for the rest.
CONNECTIONS_EACH = 15


def run(drive, servers, system, options):
    driver, many = drive.driver, options.crowd
    execute(driver, f"alter system set max_connections = {many * CONNECTIONS_EACH + 100}")
    servers.restart_postgres()
    try:
        for _ in range(options.rounds):
            few, _ = _process(driver, system, FEW, options.jobs)
            crowd, connections = _process(driver, system, many, options.jobs)
            yield {"many": many, "few": FEW, "rate": crowd["rate"], "base": few["rate"], "ratio": crowd["rate"] / few["rate"],
                   "connections": connections, "executed_twice": crowd.get("executed_twice", 0)}
    finally:
        drive.end_workers()
        execute(driver, "alter system reset max_connections")
        servers.restart_postgres()


def _process(driver, system, workers, jobs):
    store, most, done = driver.Store(system), [0], threading.Event()

    def watch():
        with driver.psycopg.connect(driver.PG_ADMIN, autocommit=True) as connection:
            while not done.wait(0.2):
                found = connection.execute("select count(*) from pg_stat_activity where datname = 'bench' and application_name = 'bpc'")
                most[0] = max(most[0], found.fetchone()[0])

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        record = driver.process(system, store, {"workers": workers}, 1, jobs)
    finally:
        done.set()
        watcher.join()
        store.close()
    if record.get("incomplete"):
        raise RuntimeError(f"{workers} workers did {record['done']:,} of {jobs:,} jobs within the driver's time")
    return record, most[0]
