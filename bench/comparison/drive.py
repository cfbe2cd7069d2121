"""The peers' own driver, told where things are here."""
import os
import sys

from . import build


class Drive:
    """Its modules with our places set, and every worker that it started. `patience` is how many seconds a quiet machine is
    waited for before each run."""

    def __init__(self, peers, directory, patience):
        os.environ.update(BENCH_BUILD=str(directory), BENCH_KEY=str(directory / "run/bpc-log.key"))
        sys.path.insert(0, str(peers))
        import driver

        self.directory, self.workers, self.driver = directory, [], driver
        driver.SQLITE = str(directory / "run/queue.db")
        # Each SQLite file has its key beside it; only PostgreSQL's needs a place.
        argv, environment, worker = driver.argv, driver.env, driver.WorkerProcess

        def our_argv(peer):
            return [str(build.client())] if peer["cmd"].startswith("bpc:") else argv(peer)

        def our_environment(peer, options):
            found = environment(peer, options)
            if peer["store"] == "sqlite":
                found.pop("BENCH_KEY", None)
            return found

        def our_worker(peer, options):
            self.workers.append(worker(peer, options))
            return self.workers[-1]

        driver.argv, driver.env, driver.WorkerProcess = our_argv, our_environment, our_worker
        wait_quiet = driver.wait_quiet
        driver.wait_quiet = lambda *_: wait_quiet(patience) if patience else None

    def key(self, path):
        """Where the key of the log is that is measured next."""
        self.driver.ENV["BENCH_KEY"] = str(path)

    def end_workers(self):
        """Workers that an error or Ctrl-C left behind."""
        for worker in self.workers:
            if worker.p.poll() is None:
                worker.stop()
        self.workers.clear()
