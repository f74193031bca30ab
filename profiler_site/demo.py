"""Demo mode: an account, a project, and example services profiled by the real agent."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

from projects.credentials import keys
from projects.models import Project, User
from projects.project_ids import create_project

EMAIL = "demo@flamewatch.example"
_LOGIN_FILE = "demo.json"


@dataclass(frozen=True, slots=True)
class Demo:
    """Credentials of the demo: sign-in of its owner, and project and key of its services."""

    email: str
    password: str
    project: str  # project id
    key: str


@dataclass(frozen=True, slots=True)
class Example:
    """Program of `examples/`, and the service name that it runs under."""

    service: str
    program: str
    environment: tuple[tuple[str, str], ...] = ()


EXAMPLES = (
    Example("main-foo-bar", "main_foo_bar.py"),
    # This program allocates its memory at its start, so the heap profiler has to be on by then.
    Example("allocations", "allocations.py", (("FLAMEWATCH_HEAP", "start"),)),
)


class NoExamples(Exception):
    """Missing example programs: they are part of a checkout."""


def prepare(data_dir: Path) -> Demo:
    """Return the demo's account, project and key; create them at the first start."""
    path = data_dir / _LOGIN_FILE
    if path.exists():
        demo = Demo(**json.loads(path.read_text()))
        if Project.objects.filter(project_id=demo.project).exists():
            return demo
    demo = _make()
    path.touch(mode=0o600)
    path.write_text(json.dumps(asdict(demo)))
    return demo


def _make() -> Demo:
    password = "-".join(secrets.token_hex(2) for _ in range(4))
    owner = User.objects.filter(email=EMAIL).first()
    if owner is None:
        owner = User.objects.create_superuser(EMAIL, password)
    else:
        owner.set_password(password)
        owner.save(update_fields=["password"])
    project = create_project("Demo", owner)
    _, key = keys.create(project, "demo services", actor=owner)
    return Demo(EMAIL, password, project.project_id, key)


class Services:
    """Example programs, each in its own process under the agent."""

    def __init__(self, demo: Demo, url: str) -> None:
        self._demo, self._url = demo, url
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        for example in EXAMPLES:
            self._running.append(self._start(example))

    def _start(self, example: Example) -> subprocess.Popen[bytes]:
        program = settings.BASE_DIR / "examples" / example.program
        if not program.exists():
            raise NoExamples(
                f"{program} is missing: `flamewatch up --demo` needs a checkout with examples/."
            )
        agent = str(Path(sys.executable).with_name("flamewatch-run"))
        identity = ["--service", example.service, "--version", "1.0", "--zone", "demo"]
        access = {"FLAMEWATCH_URL": self._url, "FLAMEWATCH_KEY": self._demo.key}
        return subprocess.Popen(
            [*_die_with_the_server(), agent, *identity, "--", sys.executable, str(program)],
            env=os.environ | access | dict(example.environment),
            # A separate session: Ctrl-C reaches only the server, which then stops its services.
            start_new_session=True,
        )

    def stop(self) -> None:
        for process in self._running:
            process.terminate()
        for process in self._running:
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _die_with_the_server() -> list[str]:
    """Return a command prefix that ends a service when the server dies, even by `kill -9`.

    Uses setpriv of util-linux, which is part of every Debian; without it the prefix is empty.
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM"] if setpriv else []
