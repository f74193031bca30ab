"""Agents under test: how to build and start each one's example program, and its properties."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests import services
from tools.agent_archives import pack_java

AGENTS = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Language:
    name: str  # deployment label `language`
    command: Callable[[Path], list[str]]  # gets a folder for what it builds
    types: dict[str, str]  # metric with a positive total, by profile type
    hot: str  # end of the name of the function that burns CPU time
    environment: tuple[tuple[str, str], ...] = ()
    exit_code: int = 0  # after SIGTERM

    @property
    def first_type(self) -> str:
        return next(iter(self.types))


def _go(folder: Path) -> list[str]:
    program = folder / "example"
    build = [services.go(), "build", "-o", str(program), "./example"]
    subprocess.run(build, cwd=AGENTS / "go", check=True, capture_output=True)
    return [str(program)]


def _node(_folder: Path) -> list[str]:
    return ["node", str(AGENTS / "node" / "example" / "main.js")]


def _java(folder: Path) -> list[str]:
    jar = folder / "flamewatch-agent.jar"
    pack_java(AGENTS / "java", AGENTS.parent / "LICENSE", jar)
    example = AGENTS / "java" / "example" / "Example.java"
    subprocess.run(["javac", "-d", str(folder), str(example)], check=True, capture_output=True)
    return ["java", f"-javaagent:{jar}", "-cp", str(folder), "Example"]


def _python(_folder: Path) -> list[str]:
    return [sys.executable, str(AGENTS / "conformance" / "python_program.py")]


GO = Language(
    "go",
    _go,
    {
        "CPU": "cpu",
        "WALL": "wall",
        "HEAP": "inuse_space",
        "HEAP_ALLOC": "alloc_space",
        "CONTENTION": "delay",
        "THREADS": "goroutine",
    },
    "burnCPU",
)
NODE = Language("nodejs", _node, {"CPU": "cpu", "WALL": "wall", "HEAP": "inuse_space"}, "burnCpu")
NODE_ALLOCATIONS = Language(
    "nodejs",
    _node,
    {"HEAP_ALLOC": "alloc_space"},
    "burnCpu",
    (("FLAMEWATCH_TYPES", "HEAP_ALLOC"),),
)
JAVA = Language(
    "java",
    _java,
    {
        "CPU": "cpu",
        "WALL": "wall",
        "HEAP_ALLOC": "alloc_space",
        "CONTENTION": "delay",
        "THREADS": "thread",
    },
    "burnCpu",
    exit_code=143,  # the JVM's own
)
PYTHON = Language(
    "python",
    _python,
    {
        "CPU": "cpu",
        "WALL": "wall",
        "HEAP": "inuse_space",
        "HEAP_ALLOC": "alloc_space",
        "CONTENTION": "delay",
        "THREADS": "thread",
    },
    "burn_cpu",
)
ALL = {"go": GO, "node": NODE, "node-allocations": NODE_ALLOCATIONS, "java": JAVA, "python": PYTHON}
