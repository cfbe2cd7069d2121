"""What was measured on, and with which versions."""
import os
import platform
import subprocess
import time

from . import place
from .systems import PACKAGES
from .systems import version as version_in


def about(options, peers, chosen):
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {_memory()} GiB, {platform.system()} {platform.release()}",
        "BPC": _commit(),
        "run": f"{options.rounds} round(s), {options.jobs:,} jobs, single and bulk for at most {options.seconds} s"
               + (", without waiting for a quiet machine: a trial, not a result" if options.noisy else ""),
    }


def server(driver):
    """The settings that count, as the server says them."""
    import psycopg

    with psycopg.connect(driver.PG_ADMIN) as connection:
        version = connection.execute("show server_version").fetchone()[0]
        names = ("fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size", "wal_level")
        said = [f"{name} = {connection.execute(f'show {name}').fetchone()[0]}" for name in names]
    return {"PostgreSQL": f"{version}; {', '.join(said)}"}


def version(system, peers):
    """Of a peer, as its client's manifest pins it."""
    if system["peer"] not in PACKAGES:
        return None
    file, package = PACKAGES[system["peer"]]
    manifest = peers / file if file else place.BENCH / "requirements.txt"
    return version_in(manifest.read_text(), package) if manifest.is_file() else None


def _processor():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def _memory():
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _commit():
    told = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=place.REPOSITORY, stdout=subprocess.PIPE, text=True)
    lto = os.environ.get("CARGO_PROFILE_RELEASE_LTO")
    return (told.stdout.strip() or "unknown") + (f", built with lto = {lto}" if lto else "")
