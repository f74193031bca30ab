"""Test runner for `make check`, `make test` and `make test-all`, each a list of stages.

Arguments other than a level go to pytest, which then runs once on PostgreSQL and once on SQLite.
PostgreSQL is started here and stopped at the end; each worker starts the Redis and the S3 server
that its tests request.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests import leftovers, services
from tests.examples import VARIABLE
from tests.stages import LEVELS, PytestRun

STOP_SECONDS = 30.0
NOTHING_SELECTED = 5  # pytest's exit code
# Words of pytest's closing line, in its order.
WORDS = {"failed": "failed", "passed": "passed", "skipped": "skipped", "xfailed": "xfailed"} | {
    "error": "errors",
    "rerun": "rerun",
}


@dataclass
class StageOutcome:
    """Sum of the results of the completed stages."""

    counts: Counter[str]
    failed: list[str]

    def closing_line(self, seconds: float) -> str:
        """Return one line in the form of pytest's own."""
        counted = [f"{self.counts[key]} {word}" for key, word in WORDS.items() if self.counts[key]]
        text = f" {', '.join(counted) or 'no tests ran'} in {seconds:.2f}s "
        return text.center(80, "=")


def main(arguments: Sequence[str]) -> int:
    level = arguments[0] if len(arguments) == 1 and arguments[0] in LEVELS else None
    stages = LEVELS[level] if level else _given(arguments)
    began, outcome = time.monotonic(), StageOutcome(Counter(), [])
    try:
        with _environments(stages) as environments, leftovers.adopted():
            for stage in stages:
                _run(stage, environments[stage.on_postgresql], outcome)
    except services.ServiceMissing as missing:
        print(missing, file=sys.stderr)
        return 1
    if outcome.failed:
        print(f"\nFailed: {'; '.join(outcome.failed)}", flush=True)
    print(outcome.closing_line(time.monotonic() - began), flush=True)
    return 1 if outcome.failed else 0


def _given(arguments: Sequence[str]) -> Sequence[PytestRun]:
    paths = tuple(arguments) or ("tests",)
    return [
        PytestRun("on PostgreSQL", paths, on_postgresql=True, examples=100),
        PytestRun("on SQLite", paths, examples=100),
    ]


@contextlib.contextmanager
def _environments(stages: Sequence[PytestRun]) -> Iterator[dict[bool, dict[str, str]]]:
    """Yield the environments without and with PostgreSQL, which runs only if a stage needs it."""
    with contextlib.ExitStack() as stack:
        data = stack.enter_context(tempfile.TemporaryDirectory(prefix="flamewatch-tests-"))
        # Fixed hash seed, so that all workers collect the same ids of cases from sets.
        common = os.environ | {"FLAMEWATCH_DATA_DIR": data, "PYTHONHASHSEED": "0"}
        common.pop("DATABASE_URL", None)
        # Bytecode of the tests and of this project is compiled once, not by every process.
        common.pop("PYTHONDONTWRITEBYTECODE", None)
        common["FLAMEWATCH_TEST_CACHE"] = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="flamewatch-test-cache-")
        )
        environments = {False: common}
        if any(stage.on_postgresql for stage in stages):
            url = stack.enter_context(services.running())
            environments[True] = common | {"DATABASE_URL": url}
        yield environments


def _run(stage: PytestRun, environment: dict[str, str], outcome: StageOutcome) -> None:
    """Run one stage and add its counts; fail it if it leaves processes behind."""
    print(f"== {stage.name}", flush=True)
    with tempfile.TemporaryDirectory(prefix="flamewatch-counts-") as folder:
        counts = Path(folder, "counts.json")
        ours = {"FLAMEWATCH_TEST_COUNTS": str(counts), VARIABLE: str(stage.examples)}
        code = _pytest(environment | ours, stage.arguments())
        if counts.exists():
            outcome.counts.update(json.loads(counts.read_text()))
    if code not in (0, NOTHING_SELECTED):
        outcome.failed.append(f"{stage.name} (pytest ended with {code})")
    for left in leftovers.end_all():
        outcome.failed.append(f"{stage.name} left a process behind: {left}")


def _pytest(environment: Mapping[str, str], arguments: Sequence[str]) -> int:
    with subprocess.Popen([sys.executable, "-m", "pytest", *arguments], env=environment) as process:
        try:
            return process.wait()
        except SystemExit:
            _interrupt(process)
            raise


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Interrupt the tests like Ctrl-C, so that they end the processes that they started."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main(sys.argv[1:]))
