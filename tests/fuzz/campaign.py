"""Runs of fuzz targets, each in its own process, which may crash, hang or be out of memory."""

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.fuzz.execution import JOURNAL_BYTES, Journal
from tests.fuzz.sanitized import SanitizedBuild
from tests.paths import ROOT

START_SECONDS = 120.0  # CPU time until the first input: imports, seeds, instrumentation
INPUT_SECONDS = 10.0  # CPU time of one input
WATCH_SECONDS = 0.2
MOST_CRASHES = 5  # of the process of one target, after which its run ends
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class FuzzRun:
    """Result of the run of one target."""

    target: str
    engine: str
    runs: int = 0
    seconds: float = 0.0
    findings: list[Path] = field(default_factory=list)

    def row(self) -> str:
        rate = self.runs / self.seconds if self.seconds else 0.0
        return (
            f"{self.target:<16} {self.engine:<9} {self.runs:>10,} {self.seconds:>8.1f}"
            f" {rate:>8,.0f} {len(self.findings):>8}"
        )


HEADER = f"{'target':<16} {'engine':<9} {'runs':>10} {'seconds':>8} {'runs/s':>8} {'findings':>8}"


@dataclass(frozen=True, slots=True)
class Campaign:
    """Settings of runs; `build` has the sanitized modules, `targets` is a module's name."""

    engine: str
    seed: int
    findings: Path
    build: SanitizedBuild | None = None
    targets: str = "tests.fuzz.targets"

    def run(self, target: str, runs: int) -> FuzzRun:
        """Run a target on `runs` inputs, in another process after each crash."""
        result = FuzzRun(target, self.engine)
        self.findings.mkdir(parents=True, exist_ok=True)
        before, began = set(self.findings.iterdir()), time.monotonic()
        for attempt in range(MOST_CRASHES):
            options = [f"--runs={runs - result.runs}", f"--seed={self.seed + 1000 * attempt}"]
            started, crash = self._execute(target, [f"--engine={self.engine}", *options])
            result.runs += started
            if crash is None or result.runs >= runs:
                break
        result.seconds = time.monotonic() - began
        new = set(self.findings.iterdir()) - before
        result.findings = sorted(path for path in new if path.suffix != ".log")
        return result

    def run_input(self, target: str, data: Path) -> bool:
        """Run one input and print its outcome; return False if it is a finding."""
        with tempfile.TemporaryDirectory() as folder:
            again = replace(self, findings=Path(folder))
            again._execute(target, [f"--input={data.resolve()}"])
            for log in sorted(Path(folder).glob("*.log")):
                print(log.read_text())
            return not any(Path(folder).iterdir())

    def _execute(self, target: str, options: Sequence[str]) -> tuple[int, str | None]:
        """Run a process; return the number of inputs it started, and the reason of a crash."""
        with tempfile.TemporaryDirectory(prefix="flamewatch-fuzz-") as folder:
            path, errors = Path(folder, "journal"), Path(folder, "stderr")
            path.write_bytes(bytes(JOURNAL_BYTES))
            journal = Journal(path)
            arguments = [self.targets, target, str(path), str(self.findings.resolve()), *options]
            environment = os.environ | {"FLAMEWATCH_DATA_DIR": f"{folder}/data"}
            if self.build:
                environment |= self.build.environment()
            with errors.open("wb") as stderr:
                process = subprocess.Popen(
                    [sys.executable, "-m", "tests.fuzz.execution", *arguments],
                    cwd=self.build.folder if self.build else ROOT,
                    env=environment,
                    stderr=stderr,
                )
                reason = _watch(process, journal)
            count, data = journal.read()
            if reason:
                self._store(target, data if count else b"", f"{reason}\n{_tail(errors)}")
            return count, reason

    def _store(self, target: str, data: bytes, text: str) -> None:
        path = self.findings / f"{target}-crash-{len(list(self.findings.iterdir()))}"
        path.write_bytes(data)
        path.with_suffix(".log").write_text(text)


def _watch(process: subprocess.Popen[bytes], journal: Journal) -> str | None:
    """Wait for the end of a process; return the reason if it crashed, or had to be killed."""
    count, since = 0, 0.0
    while True:
        try:
            code = process.wait(WATCH_SECONDS)
        except subprocess.TimeoutExpired:
            used, now = _cpu_seconds(process.pid), journal.read()[0]
            if now != count:
                count, since = now, used
            elif used - since > (INPUT_SECONDS if count else START_SECONDS):
                process.kill()
                process.wait()
                return f"One input took more than {INPUT_SECONDS:g} s of CPU time."
        else:
            if code < 0:
                return f"The process was ended by {signal.Signals(-code).name}."
            return f"The process ended with code {code}." if code else None


def _cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process: a loaded machine must not make inputs seem slow."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _tail(errors: Path, most: int = 20_000) -> str:
    return errors.read_bytes()[-most:].decode("utf-8", "replace")


def engine_of(choice: str) -> str:
    """Return the engine to use, and say so if atheris is not installed."""
    if choice == "auto":
        if importlib.util.find_spec("atheris"):
            return "atheris"
        print("atheris is not installed (requirements/fuzz.txt): mutations without coverage.")
        return "mutation"
    return choice


def shared_runs(shares: Sequence[int], runs: int, at_least: int = 1) -> Iterator[int]:
    """Divide the inputs of a campaign by the targets' shares; each gets `at_least` as many."""
    for share in shares:
        yield max(at_least, -(-runs * share // sum(shares)))
