"""Parts of the sampler without Python, tested in C with sanitizers."""

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

AGENT = Path(__file__).parents[2]
TESTS = Path(__file__).parent / "c"
CODES = ["codes.c", "text.c", "arena.c", "peek.c", "walk.c", "tasks.c"]
PARTS = {
    "blocks_test.c": ["blocks.c", "arena.c"],
    "budget_test.c": [],
    "codes_test.c": CODES,
    "fresh_codes_test.c": ["fresh_codes.c", *CODES],
}
PLAIN = ["-std=c11", "-O1", "-g", "-Wall", "-D_GNU_SOURCE=1"]
FLAGS = [*PLAIN, "-fsanitize=address,undefined"]
INCLUDE = [f"-I{AGENT / 'native'}", f"-I{sysconfig.get_paths()['include']}"]
ARM, ARM_RUNS = "aarch64-linux-gnu-gcc", "qemu-aarch64"
READS_ITSELF = ("codes_test.c", "fresh_codes_test.c")  # qemu does not support process_vm_readv


def test_every_test_in_c_is_run() -> None:
    assert {path.name for path in TESTS.glob("*.c")} == set(PARTS)


@pytest.mark.parametrize("test", PARTS)
def test_it_does_what_its_header_says(test: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    sources = [str(TESTS / test), *(str(AGENT / "native" / part) for part in PARTS[test])]
    subprocess.run(["gcc", *FLAGS, *INCLUDE, *sources, "-o", str(program), "-lm"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


# Cross-compilation needs gcc-aarch64-linux-gnu and libc6-dev-arm64-cross.
if shutil.which(ARM):

    @pytest.mark.server
    def test_it_builds_for_aarch64_without_a_warning(tmp_path: Path) -> None:
        sources = [str(path) for path in sorted(AGENT.glob("native/*.c"))]
        stable = ["-DPy_LIMITED_API=0x030b0000", "-fPIC", "-shared", "-Wextra", "-Werror"]
        allowed = "-Wno-unused-parameter"
        target = ["-o", str(tmp_path / "_native.so"), "-lrt", "-lm"]
        command = [ARM, *PLAIN, *stable, allowed, *INCLUDE, *sources, *target]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


if shutil.which(ARM) and shutil.which(ARM_RUNS):

    @pytest.mark.server
    @pytest.mark.parametrize("test", [test for test in PARTS if test not in READS_ITSELF])
    def test_it_does_the_same_on_aarch64(test: str, tmp_path: Path) -> None:
        program = str(tmp_path / "program")
        sources = [str(TESTS / test), *(str(AGENT / "native" / part) for part in PARTS[test])]
        build = [ARM, "-static", *PLAIN, *INCLUDE, *sources, "-o", program, "-lm"]
        subprocess.run(build, check=True)
        done = subprocess.run([ARM_RUNS, program], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
