"""Download of the newest CPython versions for the agent's tests.

They are packages of Debian unstable: extracted to a folder of their own, not installed,
and patched to use the libraries that come with them. Nothing outside the folder changes.

`make interpreters` downloads them, or prints the reason and fails. `make test-all` does the same as
root, if they are not there yet (`--for-tests`), within a few minutes; but the agent is not
responsible for the suite's state, so if that fails the tests use the other interpreters, and a line
names the missing ones.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUITE = "unstable"
PROGRAMS = ("python3.14", "python3.15", "python3.14-dbg")  # names of programs and packages
TOOLS = ("debootstrap", "patchelf")
TIMEOUT_SECONDS = 170.0
ATTEMPTS = 3


class Unavailable(Exception):
    """The interpreters cannot be downloaded. The message is the reason, in one line."""


def folder() -> Path:
    """Return FLAMEWATCH_INTERPRETERS, or a folder in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("FLAMEWATCH_INTERPRETERS") or cache / "flamewatch" / "interpreters")


def program(name: str) -> Path:
    return folder() / "usr" / "bin" / name


def present() -> list[str]:
    return [name for name in PROGRAMS if program(name).exists()]


def main(for_tests: bool) -> int:
    if for_tests and (present() or os.geteuid() != 0):
        return 0  # the report of the tests lists the interpreters that they use
    deadline = time.monotonic() + TIMEOUT_SECONDS
    try:
        _get_tools(for_tests, deadline)
        _fetch(deadline)
    except Unavailable as why:
        lost = "the agent is tested without these" if for_tests else "nothing was changed"
        print(f"No newer interpreters ({', '.join(PROGRAMS)}): {why}; {lost}.", file=sys.stderr)
        return 0 if for_tests else 1
    print(f"Interpreters of Debian {SUITE}: {', '.join(present())}.")
    return 0


def _get_tools(install: bool, deadline: float) -> None:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if not missing and os.geteuid() == 0:
        return
    line = ["apt-get", "install", "-y", "--no-install-recommends", *TOOLS]
    if not install or shutil.which("apt-get") is None:
        raise Unavailable(f"run {' '.join(line)}, and this as root (debootstrap wants it)")
    _run(["apt-get", "update", "-qq"], deadline)
    _run(line, deadline)


def _run(command: list[str], deadline: float) -> str:
    """Run a command until the deadline at most, and return its output."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=max(deadline - time.monotonic(), 1),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} took too long") from None
    if done.returncode:
        last = [line for line in done.stdout.splitlines() if line.strip()][-1:]
        raise Unavailable(f"{command[0]} ended with {done.returncode}: {''.join(last)}")
    return done.stdout


def _fetch(deadline: float) -> None:
    """Download all packages that the suite has, with retries because mirrors fail."""
    packages = list(PROGRAMS)
    for attempt in range(ATTEMPTS):
        try:
            with tempfile.TemporaryDirectory() as scratch:
                _unpack(_download(Path(scratch), packages, deadline), folder(), deadline)
            break
        except Unavailable as why:
            gone = _not_in_the_suite(str(why), packages)
            packages = [name for name in packages if name not in gone]
            if attempt == ATTEMPTS - 1 or not packages or time.monotonic() > deadline:
                raise


def _not_in_the_suite(why: str, packages: list[str]) -> set[str]:
    """Return the packages that debootstrap could not find: the suite removes old versions."""
    said = re.search(r"Couldn't find these debs:(.*)", why)
    return set(said[1].split()) & set(packages) if said else set()


def _download(scratch: Path, names: list[str], deadline: float) -> list[Path]:
    """Download the packages with their dependencies, and return their paths."""
    command = ["debootstrap", "--download-only", "--variant=minbase"]
    included = f"--include={','.join(names)}"
    _run([*command, included, SUITE, str(scratch), _find_mirror(deadline)], deadline)
    return sorted(scratch.glob("var/cache/apt/archives/*.deb"))


def _find_mirror(deadline: float) -> str:
    """Return DEBIAN_MIRROR, or the mirror of this machine's own packages."""
    named = os.environ.get("DEBIAN_MIRROR")
    if named:
        return named
    command = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"]
    sites = [site.rstrip("/") for site in _run(command, deadline).split()]
    mirrors = [site for site in sites if site.endswith("/debian")]
    if not mirrors:
        raise Unavailable("apt has no mirror of Debian: name one in DEBIAN_MIRROR")
    return mirrors[0]


def _unpack(packages: list[Path], target: Path, deadline: float) -> None:
    """Extract to a new folder, then rename it, so that the folder is never incomplete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="unpacking-", dir=target.parent))
    try:
        _fill(fresh, packages, target, deadline)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    for name in present():
        _run([str(program(name)), "-VV"], deadline)


def _fill(fresh: Path, packages: list[Path], target: Path, deadline: float) -> None:
    """Fill `fresh`, which will be renamed to `target`."""
    for package in packages:
        _run(["dpkg-deb", "--extract", str(package), str(fresh)], deadline)
    for name in PROGRAMS:
        if (fresh / "usr" / "bin" / name).exists():
            _lead_to_its_libraries(fresh, target, name, deadline)


def _lead_to_its_libraries(fresh: Path, target: Path, name: str, deadline: float) -> None:
    """Use the downloaded C library: this machine's is older than the one of their build."""
    loaders = sorted(fresh.glob("usr/lib*/ld-linux-*.so.*"))
    libraries = sorted(path.parent for path in fresh.glob("usr/lib/*-linux-gnu/libc.so.6"))
    if not loaders or not libraries:
        raise Unavailable("what was unpacked has no C library where Debian keeps it")
    loader, library = (target / path[0].relative_to(fresh) for path in (loaders, libraries))
    options = ["--set-interpreter", str(loader), "--force-rpath", "--set-rpath", str(library)]
    python = (fresh / "usr" / "bin" / name).resolve()
    _run(["patchelf", *options, str(python)], deadline)


if __name__ == "__main__":
    sys.exit(main(for_tests="--for-tests" in sys.argv[1:]))
