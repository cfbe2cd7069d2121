"""How fast a log is verified: from PostgreSQL, from an archive, and beside one core that only hashes the same bytes."""
import hashlib
import json
import os
import shutil
import subprocess
import time

from . import build

CHUNK = 1 << 20


def run(log, options):
    archive = log.drive.directory / "run/archive"
    shutil.rmtree(archive, ignore_errors=True)
    try:
        for _ in range(options.rounds):
            yield log.use(lambda: _round(log, archive))
    finally:
        shutil.rmtree(archive, ignore_errors=True)


def _round(log, archive):
    database = ["--database", log.driver.PG, "--json"]
    if not archive.exists():
        _bpc(log, "seal", "--once", *database)
        _bpc(log, "archive", "--to", archive, *database)
    log.driver.wait_quiet()
    stored = _bpc(log, "verify", *database)
    log.driver.wait_quiet()
    archived = _bpc(log, "verify", "--archive", archive, "--json")
    size, hashing = _sha256(archive)
    for told in (stored, archived):
        if told["findings_total"]:
            raise RuntimeError(f"verify has findings: {told['findings'][:1]}")
    return {"events": archived["events"], "pg_rate": _rate(stored), "archive_rate": _rate(archived), "bytes": size,
            "sha_mb_s": size / hashing / 1e6, "sha_times": archived["elapsed_ms"] / 1000 / hashing}


def _rate(told):
    return told["events"] / (max(told["elapsed_ms"], 1) / 1000)


def _bpc(log, *words):
    """In the directory where the log's key is."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BPC_")}
    done = subprocess.run([build.program(), *words], cwd=log.keys, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        raise RuntimeError(f"bpc {words[0]}: {(done.stderr.strip() or 'said nothing').splitlines()[-1]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def _sha256(archive):
    """The bytes of the archive's events, and the seconds that one core takes for their SHA-256. Unpacking is not counted."""
    size, hashing, digest = 0, 0.0, hashlib.sha256()
    for segment in sorted((archive / "segments").glob("*.zst")):
        unpacked = subprocess.run(["zstd", "-dcq", segment], check=True, stdout=subprocess.PIPE).stdout
        view = memoryview(unpacked)
        start = time.perf_counter()
        for at in range(0, len(unpacked), CHUNK):
            digest.update(view[at:at + CHUNK])
        hashing += time.perf_counter() - start
        size += len(unpacked)
    return size, hashing
