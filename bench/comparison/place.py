"""Where things are: this repository, the peers' clients, what is built."""
import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
REPOSITORY = BENCH.parent
PEERS_NEED = ["peers.py", "driver.py", "watch.py", "servers.sh"]


class Missing(Exception):
    """Something that has to be there is not."""


def peers():
    """The directory with the clients of the peers: $BPC_PEERS, or shared/bench beside the repository."""
    directory = Path(os.environ.get("BPC_PEERS") or REPOSITORY.parent / "shared/bench").resolve()
    lacking = [name for name in PEERS_NEED if not (directory / name).is_file()]
    if lacking:
        raise Missing(f"the peers' clients are not in {directory} (no {', '.join(lacking)}): name their directory in BPC_PEERS")
    return directory


def build_directory():
    """$BENCH_BUILD, or a directory under cargo's."""
    directory = Path(os.environ.get("BENCH_BUILD") or cargo_target() / "bench").resolve()
    (directory / "run").mkdir(parents=True, exist_ok=True)
    return directory


def cargo_target():
    return Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target").resolve()


def enter_virtualenv(build):
    """Go on in the virtualenv of the Python peers, which has what their driver imports; made if it is not there."""
    wanted = BENCH / "requirements.txt"
    venv, installed = build / "venv", build / "venv/requirements.txt"
    if not installed.is_file() or installed.read_text() != wanted.read_text():
        print(f"making the virtualenv {venv}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run(["nice", venv / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        "-r", wanted], check=True)
        installed.write_text(wanted.read_text())
    if Path(sys.prefix).resolve() != venv.resolve():
        python = str(venv / "bin/python")
        os.execv(python, [python, "-B", *sys.argv])
