"""One process that runs the inputs of a target: `python -m tests.fuzz.execution`, see campaign.py.

Each input is written to a memory-mapped journal before it runs, so that the parent process has it
if this process crashes or hangs. An exception that is no rejection is stored as a finding, once for
each place in the code, and the run continues.
"""

import argparse
import hashlib
import importlib
import os
import resource
import struct
import sys
import traceback
from collections.abc import Callable, Sequence
from mmap import mmap
from pathlib import Path
from typing import Any

from tests.fuzz.cost import CostMeter, TooCostly
from tests.fuzz.fuzz_target import MAX_INPUT, FuzzTarget
from tests.fuzz.mutation import Mutator

_HEAD = struct.Struct("<QQ")  # number of inputs so far, and the size of the last one
JOURNAL_BYTES = _HEAD.size + MAX_INPUT
# Address space of checks that are not measured: they have Python objects for each node of a tree.
_CHECK_MEMORY = 2**28
_PAGE = resource.getpagesize()
_INSTRUMENTED = ["profiles", "endpoints", "ingest", "api", "frontend"]


class Journal:
    """Number of inputs that were started, and the last one, in memory shared with the parent."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap(file.fileno(), JOURNAL_BYTES)
        self.count: int = _HEAD.unpack_from(self._memory)[0]

    def note(self, data: bytes) -> None:
        self.count += 1
        self._memory[_HEAD.size : _HEAD.size + len(data)] = data
        _HEAD.pack_into(self._memory, 0, self.count, len(data))

    def read(self) -> tuple[int, bytes]:
        """Return the number of inputs, and the last one."""
        count, size = _HEAD.unpack_from(self._memory)
        return count, self._memory[_HEAD.size : _HEAD.size + size]


class AddressSpace:
    """Limit of the address space, set anew for each input relative to the present size."""

    def __init__(self) -> None:
        self._file = os.open("/proc/self/statm", os.O_RDONLY)

    def allow(self, more: int) -> None:
        """Let the process map at most `more` bytes beyond its present size."""
        size = int(os.pread(self._file, 32, 0).split()[0]) * _PAGE
        resource.setrlimit(resource.RLIMIT_AS, (size + more, resource.RLIM_INFINITY))

    def allow_all(self) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class Execution:
    """Runs inputs of one target and stores findings in a folder."""

    def __init__(self, target: FuzzTarget, journal: Journal, findings: Path) -> None:
        self._target = target
        self._journal = journal
        self._findings = findings
        # AddressSanitizer maps terabytes; it has limits of its own, see sanitized.py.
        is_sanitized = "ASAN_OPTIONS" in os.environ
        self._space = None if is_sanitized else AddressSpace()
        self._meter = CostMeter(target.cost) if target.cost and not is_sanitized else None

    def run(self, data: bytes) -> str:
        """Run one input; return its rejection as text, "" if it was accepted."""
        target = self._target
        self._journal.note(data)
        self._allow(target.memory + target.memory_per_byte * len(data))
        try:
            outcome = (
                self._meter.run(target.accepts_measured, data)
                if self._meter
                else target.accepts_measured(data)
            )
            if outcome or not target.measured:
                return outcome
            self._allow(_CHECK_MEMORY)
            return target.accepts(data)
        except Exception as error:
            if self._space:
                self._space.allow_all()
            self._store(data, error)
            return f"finding {type(error).__name__}"

    def _allow(self, memory: int) -> None:
        if self._space:
            self._space.allow(memory)

    def _store(self, data: bytes, error: Exception) -> None:
        """Store the input and its traceback, unless the same position has a finding already."""
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        positions = [(frame.filename, frame.lineno) for frame in frames]
        if isinstance(error, TooCostly):
            positions = [(error.kind, None)]
        position = hashlib.sha256(repr((type(error), positions)).encode()).hexdigest()[:12]
        path = self._findings / f"{self._target.name}-{position}"
        if not path.exists():
            text = "".join(traceback.format_exception(error, limit=-12))
            path.with_suffix(".log").write_text(text)
            path.write_bytes(data)


def mutator_of(target: FuzzTarget, corpus: Sequence[bytes], seed: str) -> Mutator:
    return Mutator(corpus, target.dictionary, target.max_size, f"{target.name}:{seed}", target.form)


def run_mutations(target: FuzzTarget, run: Callable[[bytes], str], runs: int, seed: str) -> None:
    """Run the corpus, then mutated inputs, `runs` in all."""
    corpus = target.corpus()
    mutator = mutator_of(target, corpus, seed)
    for data in corpus[:runs]:
        mutator.learn(data, run(data[:MAX_INPUT]))
    inputs = mutator.inputs()
    for _ in range(runs - len(corpus)):
        data = next(inputs)
        mutator.learn(data, run(data))


def _write_dictionary(tokens: Sequence[bytes], folder: Path) -> Path:
    path = folder / "dictionary"
    escaped = ("".join(f"\\x{byte:02x}" for byte in token) for token in tokens)
    path.write_text("".join(f'"{token}"\n' for token in escaped))
    return path


def run_atheris(
    target: FuzzTarget, run: Callable[[bytes], str], runs: int, seed: int, folder: Path
) -> None:
    """Run inputs that libFuzzer chooses by the coverage of Python code; ends the process.

    `folder` gets its corpus and dictionary; the parent process deletes it.
    """
    atheris = importlib.import_module("atheris")
    corpus = target.corpus()
    mutator = mutator_of(target, corpus, "atheris")
    inputs = folder / "corpus"
    inputs.mkdir()
    for number, data in enumerate(corpus):
        (inputs / str(number)).write_bytes(data)
    options = [f"-runs={runs}", f"-seed={seed}", f"-max_len={target.max_size}"]
    # Campaign limits memory and CPU time. atheris takes a time limit of 0 for one of 0 s.
    options += ["-rss_limit_mb=0", "-timeout=86400", "-verbosity=0"]
    if target.dictionary:  # libFuzzer exits on an empty one
        options.append(f"-dict={_write_dictionary(target.dictionary, folder)}")

    def run_one(data: bytes) -> None:
        run(data)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        """Change the input by one of both engines; libFuzzer knows nothing of sections."""
        mutator.reseed(seed)
        changed: bytes = mutator.mutated(data) if seed % 2 else atheris.Mutate(data, max_size)
        return changed[:max_size]

    atheris.Setup([sys.argv[0], *options, str(inputs)], run_one, custom_mutator=mutate)
    atheris.Fuzz()


def _load_target(module: str, name: str, engine: str) -> FuzzTarget:
    """Import the target, with coverage counters in the code of the server for atheris."""

    def load() -> Any:
        importlib.import_module("django").setup()
        return importlib.import_module(module).TARGETS[name]

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "profiler_site.settings")
    if engine == "atheris":
        with importlib.import_module("atheris").instrument_imports(include=_INSTRUMENTED):
            return load()  # type: ignore[no-any-return]
    return load()  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("target")
    parser.add_argument("journal", type=Path)
    parser.add_argument("findings", type=Path)
    parser.add_argument("--engine", choices=["mutation", "atheris"], default="mutation")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--input", type=Path)
    options = parser.parse_args()
    target = _load_target(options.module, options.target, options.engine)
    execution = Execution(target, Journal(options.journal), options.findings)
    if options.input:
        print(execution.run(options.input.read_bytes()) or "accepted")
    elif options.engine == "atheris":
        folder = options.journal.parent
        run_atheris(target, execution.run, options.runs, options.seed, folder)
    else:
        run_mutations(target, execution.run, options.runs, str(options.seed))


if __name__ == "__main__":
    main()
