"""The private servers of the peers' servers.sh: PostgreSQL, Redis and RabbitMQ on loopback."""
import os
import subprocess
from pathlib import Path

from . import place

NAMES = {"pg": "postgres", "redis": "redis", "rabbitmq": "rabbitmq"}
PROGRAMS = {"redis": "redis-server", "rabbitmq": "rabbitmq-server"}


class Servers:
    """Those that the systems need, from entering to leaving, also by an error or Ctrl-C."""

    def __init__(self, peers, systems):
        self.script = peers / "servers.sh"
        self.names = sorted({NAMES[system["store"]] for system in systems if system["store"] in NAMES})
        self.environment = {**os.environ, "PGBIN": str(postgres_programs())} if "postgres" in self.names else os.environ

    def __enter__(self):
        running = [line for line in self._do("status").splitlines() if "running" in line]
        if running:
            raise place.Missing(f"servers of an earlier run are up ({'; '.join(running)}): if no other comparison runs now, "
                                f"stop them with: bash {self.script} stop")
        try:
            self._do("start", *self.names)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_):
        self._stop()

    def _stop(self):
        """One that does not stop keeps none of the others running."""
        problems = []
        for name in self.names:
            for is_last in (False, True):
                try:
                    self._do("stop", name)
                    break
                except place.Missing as error:
                    if is_last:
                        problems.append(str(error))
        if problems:
            raise place.Missing("; ".join(problems))

    def restart_postgres(self):
        """For settings that need it."""
        self._do("stop", "postgres")
        self._do("start", "postgres")

    def _do(self, *words):
        """In a session of its own: Ctrl-C here must not reach the servers before they are told to stop. Not through a
        pipe, which servers would inherit and keep open."""
        if not self.names:
            return ""
        said = place.build_directory() / "run/servers.log"
        with said.open("w+") as output:
            done = subprocess.run(["bash", self.script, *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, start_new_session=True)
            output.seek(0)
            text = output.read()
        if done.returncode != 0:
            raise place.Missing(f"servers.sh {' '.join(words)}: {text.strip() or done.returncode}")
        return text


def postgres_programs():
    """$PGBIN, or those of the newest PostgreSQL that Debian's packages have put in their place."""
    if os.environ.get("PGBIN"):
        return Path(os.environ["PGBIN"])
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    if not found:
        raise place.Missing("there is no PostgreSQL in /usr/lib/postgresql: install postgresql, or name its bin in PGBIN")
    return found[-1]
