"""Parts of the sampler that know no Python, tested in C and under the sanitizers."""

import subprocess
import sysconfig
from pathlib import Path

import pytest

AGENT = Path(__file__).parents[2]
TESTS = Path(__file__).parent / "c"
PARTS = {
    "blocks_test.c": ["blocks.c", "arena.c"],
    "budget_test.c": [],
    "codes_test.c": ["codes.c", "text.c", "arena.c", "peek.c", "walk.c"],
}
FLAGS = ["-std=c11", "-O1", "-g", "-Wall", "-D_GNU_SOURCE=1", "-fsanitize=address,undefined"]


def test_every_test_in_c_is_run() -> None:
    assert {path.name for path in TESTS.glob("*.c")} == set(PARTS)


@pytest.mark.parametrize("test", PARTS)
def test_it_does_what_its_header_says(test: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    sources = [str(TESTS / test), *(str(AGENT / "native" / part) for part in PARTS[test])]
    include = [f"-I{AGENT / 'native'}", f"-I{sysconfig.get_paths()['include']}"]
    subprocess.run(["gcc", *FLAGS, *include, *sources, "-o", str(program), "-lm"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
