"""BPC beside itself: the measures in which no peer takes part."""
from . import crowd, long_log, pinned, verify
from .systems import BPC

SYSTEM = BPC[0]


def run(drive, servers, options, measures):
    """Records, as they come. One that fails does not keep the others from running."""
    fields = {"name": SYSTEM["name"], "peer": SYSTEM["peer"], "store": SYSTEM["store"], "config": SYSTEM["config"]}

    def tried(measure, work):
        number = 0
        try:
            for number, record in enumerate(work, 1):
                yield {**fields, "measure": measure, "round": number, **record}
        except Exception as error:
            yield {**fields, "measure": measure, "round": number + 1, "error": f"{type(error).__name__}: {error}"}
        finally:
            drive.end_workers()

    if {"long-log", "verify"} & set(measures):
        log = long_log.LongLog(drive, SYSTEM)
        try:
            log.fill(options.log_events)
        except Exception as error:
            drive.end_workers()
            for measure in {"long-log", "verify"} & set(measures):
                yield {**fields, "measure": measure, "round": 1, "error": f"filling the log: {type(error).__name__}: {error}"}
        else:
            if "long-log" in measures:
                yield from tried("long-log", long_log.run(log, options))
            if "verify" in measures:
                yield from tried("verify", verify.run(log, options))
        log.drop()
    if "crowd" in measures:
        yield from tried("crowd", crowd.run(drive, servers, SYSTEM, options))
    if "pinned" in measures:
        yield from tried("pinned", pinned.run(drive, SYSTEM, options))
