"""Pyroscope's clients from their registries, each with a program that it profiles."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.services import fetch, find

PROGRAMS = Path(__file__).parent / "programs"
PYTHON, FORMER_PYTHON = "pyroscope-io==1.4.0", "pyroscope-io==0.8.16"
NODE = "@pyroscope/nodejs@0.6.4"
GO = "github.com/grafana/pyroscope-go@v1.4.3"
JAVA = "io.pyroscope:agent:2.9.2"
_LABELS = "region=eu-west,version=1.4+b,hostname=pod-1"  # its values have no spaces


@dataclass(frozen=True, slots=True)
class Program:
    """Command that runs in the folder of its client."""

    command: Sequence[str]
    environment: Mapping[str, str]

    def start(self, folder: Path, log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            return subprocess.Popen(
                self.command,
                cwd=folder,
                env=os.environ | self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )


@dataclass(frozen=True, slots=True)
class ProfiledProgram:
    """Client of one language: `install` fills an empty folder, `program` runs in it."""

    install: Callable[[Path], None]
    program: Callable[[str, str, float], Program]  # server's URL, key, seconds


def _python(requirement: str) -> ProfiledProgram:
    def install(folder: Path) -> None:
        shutil.copy(PROGRAMS / "shop.py", folder)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", "packages"]
        fetch([*pip, requirement], os.environ, folder)

    def program(url: str, key: str, seconds: float) -> Program:
        command = [sys.executable, "shop.py", url, key, str(seconds)]
        return Program(command, {"PYTHONPATH": "packages"})

    return ProfiledProgram(install, program)


def _install_node(folder: Path) -> None:
    shutil.copy(PROGRAMS / "shop.cjs", folder)
    (folder / "package.json").write_text("{}")
    fetch([find("npm"), "install", "--silent", "--no-audit", NODE], os.environ, folder)


def _node(url: str, key: str, seconds: float) -> Program:
    return Program([find("node"), "shop.cjs", url, key, str(seconds)], {})


def _install_go(folder: Path) -> None:
    shutil.copy(PROGRAMS / "shop.go", folder)
    for arguments in (["mod", "init", "shop"], ["get", GO], ["build", "-trimpath", "-o", "shop"]):
        fetch([find("go"), *arguments], os.environ, folder)


def _go(url: str, key: str, seconds: float) -> Program:
    return Program(["./shop", url, key, str(int(seconds))], {})


def _install_java(folder: Path) -> None:
    copy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
    options = ["-q", f"-Dartifact={JAVA}", "-DoutputDirectory=.", "-Dmdep.stripVersion=true"]
    fetch([find("mvn"), *options, copy], os.environ, folder)
    compile_shop = [find("javac"), "-cp", "agent.jar", "-d", ".", str(PROGRAMS / "Shop.java")]
    fetch(compile_shop, os.environ, folder)


def _java(url: str, key: str, seconds: float) -> Program:
    settings = {
        "APPLICATION_NAME": "shop.java",
        "SERVER_ADDRESS": url,
        "BASIC_AUTH_USER": "shop",
        "BASIC_AUTH_PASSWORD": key,
        "FORMAT": "jfr",
        "PROFILER_ALLOC": "64k",
        "UPLOAD_INTERVAL": "4s",
        "LABELS": _LABELS,
    }
    environment = {f"PYROSCOPE_{name}": value for name, value in settings.items()}
    return Program([find("java"), "-javaagent:agent.jar", "Shop", str(int(seconds))], environment)


CLIENTS: Mapping[str, ProfiledProgram] = {
    "python": _python(PYTHON),
    "python-0-8": _python(FORMER_PYTHON),
    "nodejs": ProfiledProgram(_install_node, _node),
    "go": ProfiledProgram(_install_go, _go),
    "java": ProfiledProgram(_install_java, _java),
}
