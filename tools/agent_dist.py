"""Build the distributions of the agents that the server serves, into dist/agents.

`python -m tools.agent_dist` builds the sdist and the wheel of this machine, and puts beside them
the wheel of setuptools that building from the sdist takes: pip finds all of it on one page, and
asks no index. The packed Go and Node.js agents (agent_archives) are beside them. With
`--all-platforms` it adds a wheel for each target of `cross_wheels`.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from packaging.tags import platform_tags

from tools import agent_archives, cross_wheels

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "agents" / "python"
LICENSE = ROOT / "LICENSE"
TARGET = ROOT / "dist" / "agents"
PINS = ROOT / "requirements" / "server.txt"
BUILD_REQUIREMENT = "setuptools"


class BuildFailed(Exception):
    """A step of the build ended with an error; the text has its output."""


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0 if everything that was asked for is in the folder, else 1."""
    parser = argparse.ArgumentParser(prog="tools.agent_dist", description=__doc__)
    parser.add_argument("--all-platforms", action="store_true", help="a wheel for each platform")
    parser.add_argument("--source", type=Path, default=SOURCE, help="(default: %(default)s)")
    parser.add_argument("--target", type=Path, default=TARGET, help="(default: %(default)s)")
    options = parser.parse_args(argv)
    try:
        build(options.source, options.target, all_platforms=options.all_platforms)
    except BuildFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def build(source: Path, target: Path, *, all_platforms: bool = False) -> None:
    """Build into a new folder first, so that the server always finds a whole one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="agents-", dir=target.parent) as scratch:
        fresh = Path(scratch) / "agents"
        fresh.mkdir()
        shutil.rmtree(source / "build", ignore_errors=True)  # objects of deleted sources
        run([sys.executable, "-m", "build", "--no-isolation", "--outdir", str(fresh), str(source)])
        (built,) = fresh.glob("*.whl")
        if all_platforms:
            cross_wheels.build(source, built, fresh, run)
        tag_for_platform(built)
        _add_build_requirement(fresh, target, Path(scratch))
        agent_archives.pack_go(ROOT / "agents" / "go", LICENSE, fresh)
        agent_archives.pack_node(ROOT / "agents" / "node", LICENSE, fresh)
        _pack_java(fresh)
        if target.exists():
            target.rename(Path(scratch) / "old")
        fresh.rename(target)


def _pack_java(target: Path) -> None:
    """Build the jar; without a JDK, say that the server will not serve it."""
    source = ROOT / "agents" / "java"
    if shutil.which("javac") is None:
        print("The Java agent is left out: there is no JDK (javac). Others are built.")
        return
    jar = target / f"flamewatch-agent-{agent_archives.java_version(source)}.jar"
    agent_archives.pack_java(source, LICENSE, jar)


def tag_for_platform(wheel: Path) -> None:
    """Replace the tag `linux_<machine>`, which promises nothing about the C library."""
    tag = platform_tag(wheel)
    if tag:
        run([sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, str(wheel)])


def platform_tag(wheel: Path) -> str | None:
    """Return the manylinux tag of the newest glibc symbol in a wheel; None without binaries.

    Version names stand as text in a binary's table of strings. On musl, which has no versions,
    it is the tag of this machine.
    """
    machine = wheel.stem.rsplit("-", 1)[1].removeprefix("linux_")
    with zipfile.ZipFile(wheel) as archive:
        binaries = [archive.read(name) for name in archive.namelist() if name.endswith(".so")]
    if not binaries:
        return None
    found = [version for binary in binaries for version in cross_wheels.glibc_versions(binary)]
    if found:
        major, minor = max(found)
        return f"manylinux_{major}_{minor}_{machine}"
    return next(tag for tag in platform_tags() if tag.startswith("musllinux"))


def find_pin(name: str, pins: str) -> str:
    """Return the requirement with its hashes, as compiled requirements have it."""
    found = re.search(rf"^{re.escape(name)}==.*?(?=^\S|\Z)", pins, re.M | re.S)
    if found is None:
        raise BuildFailed(f"requirements/server.txt has no pin of {name}; run make requirements.")
    return found[0]


def _add_build_requirement(fresh: Path, old: Path, scratch: Path) -> None:
    """Copy the pinned wheel of an earlier build, or download it."""
    pin = find_pin(BUILD_REQUIREMENT, PINS.read_text())
    version = pin.split("==")[1].split()[0]
    name = f"{BUILD_REQUIREMENT}-{version}-py3-none-any.whl"
    if (old / name).exists():
        shutil.copy2(old / name, fresh)
        return
    requirement = scratch / "build-requirement.txt"
    requirement.write_text(pin)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    limits = ["--no-deps", "--only-binary=:all:", "--require-hashes"]
    run([*command, *limits, "--dest", str(fresh), "--requirement", str(requirement)])


def run(command: list[str]) -> None:
    """Run a build step quietly; its output is in BuildFailed."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        line = " ".join(command)
        raise BuildFailed(f"{done.stdout}\nExit code {done.returncode} of this command: {line}")


if __name__ == "__main__":
    sys.exit(main())
