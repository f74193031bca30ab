"""Sampler built with AddressSanitizer and UndefinedBehaviorSanitizer, which must report nothing."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import families
import pytest

AGENT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
FLAGS = ["-std=c11", "-O1", "-g", "-D_GNU_SOURCE=1", "-DPy_LIMITED_API=0x030b0000", "-fPIC"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


def runtime(library: str) -> str:
    command = ["gcc", f"-print-file-name={library}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    package = tmp_path_factory.mktemp("sanitized") / "flamewatch"
    shutil.copytree(AGENT / "src" / "flamewatch", package, ignore=shutil.ignore_patterns("*.so"))
    sources = [str(path) for path in sorted(AGENT.glob("native/**/*.c"))]
    include = [f"-I{AGENT / 'native'}", "-I" + sysconfig.get_paths()["include"]]
    target = str(package / "_native.abi3.so")
    command = [
        "gcc",
        "-shared",
        *FLAGS,
        *SANITIZERS,
        *include,
        *sources,
        "-o",
        target,
        "-lrt",
        "-lm",
    ]
    subprocess.run(command, check=True, capture_output=True)
    return {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "LD_PRELOAD": f"{runtime('libasan.so')} {runtime('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",
    }


@pytest.mark.nightly
@pytest.mark.parametrize(
    "program",
    [
        *("storm.py cpu 2", "storm.py wall 2", "deep.py", "forks.py", "full.py", "signals.py"),
        "modules.py",
        *("labelled.py CPU crowded", "labelled.py WALL tasks", "unheard.py"),
        *("tasks.py CPU chains", "tasks.py WALL storm"),
        *("heap.py truth", "heap.py full", "heap_forks.py", "heap_storm.py 40"),
        *("contention.py lock", "contention_forks.py", "contention_storm.py 60"),
    ],
)
def test_sanitizers_report_nothing(program: str, environment: dict[str, str]) -> None:
    name, *arguments = program.split()
    command = [sys.executable, str(PROGRAMS / name), *arguments]
    done = families.run(command, env=environment, timeout=500)
    assert done.returncode == 0, done.stderr
    assert "Sanitizer" not in done.stderr
    assert "runtime error" not in done.stderr
