"""Fuzz the readers of foreign bytes.

python -m tests.fuzz                          all targets, 100,000 inputs together
python -m tests.fuzz pprof --runs 50000       one target
python -m tests.fuzz pprof --input FILE       one input again, with its traceback
"""

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.fuzz.campaign import HEADER, Campaign, FuzzRun, engine_of, shared_runs
from tests.fuzz.sanitized import SanitizedBuild, build
from tests.fuzz.target_names import SHARES

RUNS = 100_000
# Not in test-results/, which each pytest run with a browser empties.
FINDINGS = Path("fuzz-findings")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(SHARES))
    parser.add_argument("--runs", type=int, default=RUNS, help="inputs of all targets together")
    parser.add_argument("--at-least", type=int, default=1, help="inputs of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=["auto", "atheris", "mutation"], default="auto")
    parser.add_argument("--sanitize", action="store_true", help="compile with ASan and UBSan")
    parser.add_argument("--sanitized", type=Path, help="folder with an earlier build of them")
    parser.add_argument("--findings", type=Path, default=FINDINGS, help="folder of new findings")
    parser.add_argument("--input", type=Path, help="run this file only")
    options = parser.parse_args(arguments)
    if unknown := set(options.targets) - set(SHARES):
        parser.error(f"there is no target {', '.join(sorted(unknown))}")
    if options.input and len(options.targets) != 1:
        parser.error("--input needs one target")
    return options


def main(arguments: Sequence[str]) -> int:
    """Print a table of the targets; return 1 if there is a finding."""
    options = parse(arguments)
    with _build(options.sanitize, options.sanitized) as sanitized:
        # libFuzzer's own hooks for sanitizers are those of Clang, and the modules are built by gcc.
        choice = "mutation" if sanitized or options.input else options.engine
        campaign = Campaign(engine_of(choice), options.seed, options.findings, sanitized)
        if options.input:
            return 0 if campaign.run_input(options.targets[0], options.input) else 1
        targets = options.targets or [*SHARES]
        return _run_all(campaign, targets, options.runs, options.at_least)


def _run_all(campaign: Campaign, targets: Sequence[str], runs: int, at_least: int) -> int:
    print(HEADER, flush=True)
    results: list[FuzzRun] = []
    shares = [SHARES[name] for name in targets]
    for target, its_runs in zip(targets, shared_runs(shares, runs, at_least), strict=True):
        results.append(campaign.run(target, its_runs))
        print(results[-1].row(), flush=True)
    total = FuzzRun("all", campaign.engine)
    for result in results:
        total.runs += result.runs
        total.seconds += result.seconds
        total.findings += result.findings
    print(total.row(), flush=True)
    for result in results:
        for path in result.findings:
            print(_described(result.target, path, campaign), flush=True)
    return 1 if total.findings else 0


def _described(target: str, path: Path, campaign: Campaign) -> str:
    log = path.with_suffix(".log")
    sanitize = " --sanitize" if campaign.build else ""
    return (
        f"\n{log.read_text().rstrip()[-2000:]}\n"
        f"Repeat it: {sys.executable} -m tests.fuzz {target} --input {path}{sanitize}"
    )


@contextlib.contextmanager
def _build(sanitize: bool, folder: Path | None) -> Iterator[SanitizedBuild | None]:
    if folder or not sanitize:
        yield SanitizedBuild(folder.resolve()) if folder else None
        return
    with tempfile.TemporaryDirectory(prefix="flamewatch-sanitized-") as name:
        yield build(Path(name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
