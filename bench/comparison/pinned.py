"""Processing while another session holds a transaction open, so that no dead row can be removed.

The same number of loads runs on a fresh log without such a session first, one after the other, and then on another with
it, spread evenly over the time. What counts is the end, when most has gathered: the median of the last loads of each.
"""
import time

from .figures import median
from .kept_store import kept_store
from .measures import is_disturbed

LAST = 3
TABLES = ["job_queue", "queue_cohorts"]
SIZE = "select " + " + ".join(f"pg_total_relation_size('{table}')" for table in TABLES)
DEAD = "select sum(n_dead_tup)::int8 from pg_stat_user_tables where relname = any(%s)"


def run(drive, system, options):
    driver = drive.driver
    loads = [_load(driver, system, store, options.jobs) for store in _stores(driver, system, options.pinned_loads)]
    with_pin, sizes, seconds, dead, after = _pinned(driver, system, options)
    last, last_pinned = loads[-LAST:], with_pin[-LAST:]
    base, rate = (median(load["rate"] for load in these) for these in (last, last_pinned))
    yield {"rate": rate, "base": base, "ratio": rate / base, "seconds": seconds, "rates": [load["rate"] for load in with_pin],
           "base_rates": [load["rate"] for load in loads], "disturbed": is_disturbed(*last, *last_pinned),
           "pinned_jobs": options.jobs * options.pinned_loads, "queue_bytes": sizes, "dead_tuples": dead,
           "queue_bytes_after": after}


def _pinned(driver, system, options):
    loads, sizes, pin = [], [], None
    try:
        for number, store in enumerate(_stores(driver, system, options.pinned_loads)):
            if pin is None:
                pin = driver.psycopg.connect(driver.PG)
                pin.execute("set transaction isolation level repeatable read")
                pin.execute("select pg_current_xact_id(), count(*) from job_queue")
                start = time.monotonic()
                sizes.append(store.value(SIZE))
            begin = start + number * options.pinned_seconds / options.pinned_loads
            time.sleep(max(0.0, begin - time.monotonic()))
            loads.append(_load(driver, system, store, options.jobs))
            sizes.append(store.value(SIZE))
        time.sleep(max(0.0, start + options.pinned_seconds - time.monotonic()))
        seconds = time.monotonic() - start
    finally:
        if pin is not None:
            pin.close()
    with driver.psycopg.connect(driver.PG, autocommit=True) as connection:
        dead = connection.execute(DEAD, [TABLES]).fetchone()[0]
        connection.execute("vacuum " + ", ".join(TABLES))
        after = connection.execute(SIZE).fetchone()[0]
    return loads, sizes, seconds, dead, after


def _stores(driver, system, loads):
    """A fresh log, and the same one for every load."""
    fresh = driver.Store(system)
    fresh.reset()
    fresh.close()
    store = kept_store(driver, system)
    store.reset()
    try:
        for _ in range(loads):
            yield store
    finally:
        store.close()


def _load(driver, system, store, jobs):
    record = driver.process(system, store, system["work"], 1, jobs)
    if record.get("incomplete"):
        raise RuntimeError(f"a load of {jobs:,} jobs was not done within the driver's time")
    return record
