"""The measures in which BPC and the peers are compared, one run of one system at a time."""
import sys
import time

from .systems import jobs_of

# As the peers' driver has it: more than that much of a core used by others, or stolen by the host.
FOREIGN_CORES_MAX, STEAL_MAX = 0.2, 0.08
SINGLE_JOBS = 20_000


def measure(drive, system, name, options):
    """One run, again while others disturb it. Never raises but for Ctrl-C: one broken peer must not end the comparison."""
    store = drive.driver.Store(system)
    try:
        for _ in range(1 if options.noisy else options.tries):
            record = _once(drive, system, store, name, options)
            record["disturbed"] = is_disturbed(record)
            if not record["disturbed"]:
                break
            print(f"disturbed: {record['foreign_cores']} cores of others, {record['steal']:.0%} stolen", file=sys.stderr)
    except Exception as error:
        record = {"error": f"{type(error).__name__}: {error}"}
    finally:
        store.close()
        drive.end_workers()
    return record


def is_disturbed(*records):
    return any(it["foreign_cores"] > FOREIGN_CORES_MAX or it["steal"] > STEAL_MAX for it in records)


def _once(drive, system, store, name, options):
    driver, jobs = drive.driver, jobs_of(system, options.jobs)
    if name == "process":
        return driver.process(system, store, system["work"], 1, jobs)
    if name == "latency":
        return driver.latency(system, store, system.get("worklat", system["work"]))
    return _enqueue(driver, system, store, options, jobs if name == "bulk" else None)


def _enqueue(driver, system, store, options, bulk_jobs):
    """So many in bulk, or one at a time. The driver's own has its numbers fixed."""
    store.reset()
    time.sleep(1.2)  # PostgreSQL's counters are a second late
    before = store.meter()
    driver.wait_quiet()
    watch = driver.Watch()
    if bulk_jobs:
        said = driver.call(system, "enqueue-bulk", bulk_jobs, 1000, options.seconds)
    else:
        said = driver.call(system, "enqueue-single", SINGLE_JOBS, options.seconds)
    disturbed = watch.result()
    time.sleep(1.2)
    return {"n": said["n"], "secs": said["secs"], "rate": said["n"] / said["secs"],
            **driver.per_job(before, store.meter(), said["n"]), **disturbed}
