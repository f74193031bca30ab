"""Run `go tool pprof` on every query of questions.py and store its output (`make golden`).

The tests read the stored output, so they need no Go. The same queries run on our own export of each
sample, and must give the same output.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from profiles.engine.accumulators.merge import merge
from profiles.engine.calltree.tree import Tree
from profiles.engine.pprof.decode import DecodeLimits, decode_profile, gunzip
from profiles.engine.pprof.encode import PERIOD_TYPES, encode
from tests.golden.queries import HERE, QUERIES, GoldenQuery, Sample

# Without symbolisation, which would rewrite names; no function is too small to be listed.
OPTIONS = ("-functions", "-symbolize=none", "-nodecount=1000000", "-nodefraction=0")
_INLINED = re.compile(r" \((partial-)?inline\)$", re.MULTILINE)  # call trees do not store this


def run_pprof(query: GoldenQuery, profiles: list[Path], base: Path | None) -> str:
    """Return the table alone, because the lines above it contain files and times of the capture."""
    subtracted = [f"-diff_base={base}"] if base else []
    lines = pprof(*OPTIONS, *query.arguments(), *subtracted, *profiles).decode().splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["flat", "flat%"])
    return "\n".join([*lines[start:], ""])


def pprof(*arguments: str | Path) -> bytes:
    command = ["go", "tool", "pprof", *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


def joined(sample: Sample, folder: Path) -> Path:
    """Merge a sample's profiles with pprof, which uses only the last of several base profiles."""
    path = folder / f"{sample.name}.joined.pb.gz"
    pprof("-proto", "-symbolize=none", f"-output={path}", *sample.paths)
    return path


def tree_of(sample: Sample) -> Tree:
    """Return the merged tree of a sample's profiles."""
    raws = (gunzip(path.read_bytes(), 2**24) for path in sample.paths)
    return merge(decode_profile(raw, sample.type, DecodeLimits()).tree for raw in raws)


def exported(sample: Sample, folder: Path) -> Path:
    """Export the decoded tree of a sample to a pprof file."""
    path = folder / f"{sample.name}.pb.gz"
    path.write_bytes(encode(tree_of(sample), period_type=PERIOD_TYPES.get(sample.type)))
    return path


def main() -> None:
    for path in HERE.glob("*.txt"):
        path.unlink()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for query in QUERIES:
            sample, base = query.sample, query.base
            said = run_pprof(query, sample.paths, joined(base, folder) if base else None)
            query.path.write_text(said)
            ours = run_pprof(
                query, [exported(sample, folder)], exported(base, folder) if base else None
            )
            if _INLINED.sub("", ours) != _INLINED.sub("", said):
                sys.exit(f"pprof prints something else for our export of {query.path.name}.")


if __name__ == "__main__":
    main()
