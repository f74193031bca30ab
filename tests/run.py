"""`make test`: every test, and on PostgreSQL too where it touches the database.

Arguments go to pytest, which then runs once for each database. The services are started here
and stopped at the end.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

from tests import services

# What touches the database; the rest would only be run twice.
ON_POSTGRESQL = ["tests", "-m", "not browser and not server", "--ignore=tests/profiles/engine"]

# In a process of their own: Playwright's event loop stays in the thread of the tests.
IN_THE_BROWSER = ["tests/frontend/browser"]

STOP_SECONDS = 30.0


def main(arguments: Sequence[str]) -> int:
    try:
        with services.running() as running, tempfile.TemporaryDirectory() as data:
            return _both(running, data, arguments)
    except services.ServiceMissing as missing:
        print(missing, file=sys.stderr)
        return 1


def _both(running: services.Services, data: str, arguments: Sequence[str]) -> int:
    common = os.environ | {
        "FLAMEWATCH_DATA_DIR": data,
        "TEST_DATABASE_URL": running.database_url,
        "TEST_REDIS_URL": running.redis_url,
        "TEST_S3_URL": running.s3.url,
    }
    on_postgresql = common | {"DATABASE_URL": running.database_url}
    if arguments:
        return _pytest(on_postgresql, arguments) or _pytest(common, arguments)
    print("== the database's tests on PostgreSQL", flush=True)
    first = _pytest(on_postgresql, ON_POSTGRESQL)
    print("== the browser's tests", flush=True)
    second = _pytest(common, IN_THE_BROWSER)
    print("== everything else, on SQLite", flush=True)
    third = _pytest(common, ["-m", "not browser"])
    return first or second or third


def _pytest(environment: Mapping[str, str], arguments: Sequence[str]) -> int:
    with subprocess.Popen([sys.executable, "-m", "pytest", *arguments], env=environment) as process:
        try:
            return process.wait()
        except SystemExit:
            _interrupt(process)
            raise


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C does, which reaches both of us: the tests end what they have started."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main(sys.argv[1:]))
