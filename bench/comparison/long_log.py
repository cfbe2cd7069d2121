"""A log with many events. It is filled the way logs are: jobs enqueued in bulk and run, three events each, sealed."""
import sys

from .kept_store import execute, kept_store
from .measures import is_disturbed

# Rows of one load. The driver gives a load three minutes.
LOAD = 500_000
EVENTS_PER_JOB = 3


class LongLog:
    """It waits under another name while the database of that name is used for other measurements."""

    def __init__(self, drive, system):
        self.drive, self.driver, self.system = drive, drive.driver, system
        self.keys = drive.directory / "run/long"
        self.keys.mkdir(exist_ok=True)
        self.events = 0

    def fill(self, events):
        driver = self.driver
        execute(driver, "drop database if exists bench_long with (force)")
        self.drive.key(self.keys / "bpc-log.key")
        fresh = driver.Store(self.system)
        fresh.reset()
        fresh.close()
        store, wait_quiet = kept_store(driver, self.system), driver.wait_quiet
        driver.wait_quiet = lambda *_: None  # nothing is measured yet
        try:
            jobs = -(-events // EVENTS_PER_JOB)
            while jobs > 0:
                load = min(jobs, LOAD)
                filled = driver.process(self.system, store, self.system["work"], 1, load)
                if filled.get("incomplete"):
                    raise RuntimeError(f"a load of {load:,} jobs was not done within the driver's time")
                jobs -= load
                print(f"filling the log: {jobs:,} jobs to go", file=sys.stderr, flush=True)
            store.reset()
            self.events = store.value(self.system["kept"]["events"])
        finally:
            driver.wait_quiet = wait_quiet
            store.close()
            self._put_away()

    def use(self, work):
        """Do something with it in its place, where the measurements look for a database."""
        execute(self.driver, "drop database if exists bench with (force)", "alter database bench_long rename to bench")
        self.drive.key(self.keys / "bpc-log.key")
        try:
            return work()
        finally:
            self._put_away()

    def drop(self):
        execute(self.driver, "drop database if exists bench_long with (force)")

    def _put_away(self):
        self.drive.end_workers()
        # Sessions of workers that were just ended may not be gone yet, and no database with sessions is renamed.
        execute(self.driver, "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = 'bench'",
                "alter database bench rename to bench_long")
        self.drive.key(self.drive.directory / "run/bpc-log.key")


def run(log, options):
    """Process on the empty log and on the long one in turn."""
    driver, system = log.driver, log.system

    def on_long():
        store = kept_store(driver, system)
        try:
            return driver.process(system, store, system["work"], 1, options.jobs)
        finally:
            store.close()

    for _ in range(options.rounds):
        store = driver.Store(system)
        base = driver.process(system, store, system["work"], 1, options.jobs)
        store.close()
        long = log.use(on_long)
        if base.get("incomplete") or long.get("incomplete"):
            raise RuntimeError("processing did not end within the driver's time")
        yield {"events": log.events, "rate": long["rate"], "base": base["rate"], "ratio": long["rate"] / base["rate"],
               "wal_bytes_per_job": long["wal_bytes_per_job"], "disturbed": is_disturbed(base, long)}
