"""Parts of the sampler without Python, tested in C with sanitizers."""

import re
import shutil
import subprocess
import sysconfig
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

AGENT = Path(__file__).parents[2]
NATIVE = AGENT / "native"
TESTS = Path(__file__).parent / "c"
CODES = [
    "base/arena.c",
    "capture/codes.c",
    "interpreter/offsets.c",
    "interpreter/peek.c",
    "interpreter/text.c",
]
PARTS = {
    "blocks_test.c": ["heap/blocks.c", "base/arena.c"],
    "budget_test.c": [],
    "codes_test.c": CODES,
    "fresh_codes_test.c": ["sampling/fresh_codes.c", *CODES],
}
# Folders in the order in which they may include each other: each only those before it.
FOLDERS = ["base", "interpreter", "capture", "sampling", "heap", "contention", "."]
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
PLAIN = ["-std=c11", "-O1", "-g", "-Wall", "-D_GNU_SOURCE=1"]
FLAGS = [*PLAIN, "-fsanitize=address,undefined"]
INCLUDE = [f"-I{NATIVE}", f"-I{sysconfig.get_paths()['include']}"]
ARM, ARM_RUNS = "aarch64-linux-gnu-gcc", "qemu-aarch64"
READS_ITSELF = ("codes_test.c", "fresh_codes_test.c")  # qemu does not support process_vm_readv


def includes() -> dict[Path, set[Path]]:
    """Return the modules (paths without suffix) that each module includes."""
    found: dict[Path, set[Path]] = {}
    for path in NATIVE.rglob("*.[ch]"):
        module = path.relative_to(NATIVE).with_suffix("")
        names = {Path(name).with_suffix("") for name in INCLUDED.findall(path.read_text())}
        found.setdefault(module, set()).update(names - {module})
    return found


def test_no_module_includes_itself_through_others() -> None:
    assert len([*TopologicalSorter(includes()).static_order()]) > 30


def test_folders_include_only_those_below_them() -> None:
    rank = {Path(folder): i for i, folder in enumerate(FOLDERS)}
    up = [
        f"{module} includes {included}"
        for module, names in includes().items()
        for included in names
        if rank[included.parent] > rank[module.parent]
    ]
    assert not up


def test_every_test_in_c_is_run() -> None:
    assert {path.name for path in TESTS.glob("*.c")} == set(PARTS)


@pytest.mark.parametrize("test", PARTS)
def test_c_part_passes_its_tests_under_sanitizers(test: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    sources = [str(TESTS / test), *(str(NATIVE / part) for part in PARTS[test])]
    subprocess.run(["gcc", *FLAGS, *INCLUDE, *sources, "-o", str(program), "-lm"], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


# Cross-compilation needs gcc-aarch64-linux-gnu and libc6-dev-arm64-cross.
if shutil.which(ARM):

    @pytest.mark.server
    def test_c_sources_build_for_aarch64_without_a_warning(tmp_path: Path) -> None:
        sources = [str(path) for path in sorted(NATIVE.rglob("*.c"))]
        stable = ["-DPy_LIMITED_API=0x030b0000", "-fPIC", "-shared", "-Wextra", "-Werror"]
        allowed = "-Wno-unused-parameter"
        target = ["-o", str(tmp_path / "_native.so"), "-lrt", "-lm"]
        command = [ARM, *PLAIN, *stable, allowed, *INCLUDE, *sources, *target]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


if shutil.which(ARM) and shutil.which(ARM_RUNS):

    @pytest.mark.server
    @pytest.mark.parametrize("test", [test for test in PARTS if test not in READS_ITSELF])
    def test_c_part_passes_its_tests_on_aarch64(test: str, tmp_path: Path) -> None:
        program = str(tmp_path / "program")
        sources = [str(TESTS / test), *(str(NATIVE / part) for part in PARTS[test])]
        build = [ARM, "-static", *PLAIN, *INCLUDE, *sources, "-o", program, "-lm"]
        subprocess.run(build, check=True)
        done = subprocess.run([ARM_RUNS, program], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
