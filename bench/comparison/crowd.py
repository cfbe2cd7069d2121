"""Many workers against few.

Each worker has a store, an engine and connections of its own and shares nothing with the others, as if it ran on
another machine; but all of them live in one process. As many processes as workers would measure how the operating system
shares two cores among hundreds of runtimes, which nobody runs on two cores.

Two pairs, because a worker of BPC takes about five connections: as many workers as were asked for against 4 of them, and as
many as take that many connections against the one that takes about 4.

Workers live long, and a thousand server processes that begin, each planning its statements, take both cores half a minute. So there
are ten times as many jobs as elsewhere, and the pace is that of the second half of them; that of the whole run stands beside it.
"""
import threading
import time

from .kept_store import execute
from .measures import is_disturbed

WARM_UP = 0.5
TIMES_THE_JOBS = 10
# A worker leases, settles, seals and listens on connections of its own and has a pool for the rest.
CONNECTIONS_EACH = 15
CONNECTIONS = "select count(*) from pg_stat_activity where datname = 'bench' and application_name = 'bpc'"


def run(drive, servers, system, options):
    most, jobs = max(many for many, _ in options.crowd), options.jobs * TIMES_THE_JOBS
    execute(drive.driver, f"alter system set max_connections = {most * CONNECTIONS_EACH + 100}")
    servers.restart_postgres()
    try:
        for number in range(1, options.rounds + 1):
            for many, few in options.crowd:
                base, crowd = (_process(drive, system, workers, jobs) for workers in (few, many))
                yield {"round": number, "many": many, "few": few, "connections": crowd["connections"],
                       "base_connections": base["connections"], "jobs": jobs, "done": crowd["done"],
                       "rate": crowd["pace"], "base": base["pace"], "ratio": crowd["pace"] / base["pace"],
                       "whole_ratio": crowd["rate"] / base["rate"], "executed_twice": crowd.get("executed_twice", 0),
                       "disturbed": is_disturbed(base, crowd)}
    finally:
        drive.end_workers()
        execute(drive.driver, "alter system reset max_connections")
        servers.restart_postgres()


def _process(drive, system, workers, jobs):
    driver, store, watch = drive.driver, drive.driver.Store(system), _Watch(drive)
    watch.start()
    try:
        record = driver.process(system, store, {"workers": workers}, 1, jobs)
    finally:
        watch.done.set()
        watch.join()
        store.close()
        drive.end_workers()
    # Those that were not done within the driver's three minutes count by what they did.
    return record | {"pace": pace(watch.counts, jobs) or record["rate"], "connections": watch.connections}


def pace(counts, jobs):
    """Jobs per second of the second half, from (seconds, jobs done) in order; None if it was too quick
    to be seen."""
    begin = next(((at, done) for at, done in counts if done >= jobs * WARM_UP), None)
    end = next(((at, done) for at, done in counts if done >= jobs), None)
    if begin is None or end is None or end[0] <= begin[0]:
        return None
    return (end[1] - begin[1]) / (end[0] - begin[0])


class _Watch(threading.Thread):
    """Looks on while jobs are processed."""

    def __init__(self, drive):
        super().__init__(daemon=True)
        self.drive, self.done, self.counts, self.connections = drive, threading.Event(), [], 0

    def run(self):
        asked = 0.0
        with self.drive.driver.psycopg.connect(self.drive.driver.PG_ADMIN, autocommit=True) as connection:
            while not self.done.wait(0.01):
                now = time.monotonic()
                if self.drive.workers:
                    self.counts.append((now, self.drive.workers[-1].count))
                if now - asked > 0.5:
                    asked = now
                    self.connections = max(self.connections, connection.execute(CONNECTIONS).fetchone()[0])
