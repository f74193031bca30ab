"""`make interpreters`: the newest CPythons, in a folder of their own, for the agent's tests.

They are Debian's, of its unstable suite: unpacked, not installed, and led to the libraries that
came with them. Nothing outside the folder changes.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SUITE = "unstable"
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
PACKAGES = ("python3.14", "python3.15", "python3.14-dbg")
PROGRAMS = ("python3.14", "python3.15", "python3.14-dbg")
TOOLS = ("debootstrap", "patchelf")


def folder() -> Path:
    """FLAMEWATCH_INTERPRETERS, or one in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("FLAMEWATCH_INTERPRETERS") or cache / "flamewatch" / "interpreters")


def program(name: str) -> Path:
    return folder() / "usr" / "bin" / name


def main() -> int:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing or os.geteuid() != 0:
        needed = f"apt-get install {' '.join(TOOLS)}, and run this as root (debootstrap wants it)"
        print(f"make interpreters needs: {needed}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        _unpack(_downloaded(Path(scratch)), folder())
    for name in PROGRAMS:
        _lead_to_its_libraries(program(name))
        subprocess.run([program(name), "-VV"], check=True)
    return 0


def _downloaded(scratch: Path) -> list[Path]:
    """The packages, with all that they need."""
    command = ["debootstrap", "--download-only", "--variant=minbase"]
    wanted = f"--include={','.join(PACKAGES)}"
    subprocess.run(
        [*command, wanted, SUITE, str(scratch), MIRROR], check=True, stdout=subprocess.DEVNULL
    )
    return sorted(scratch.glob("var/cache/apt/archives/*.deb"))


def _unpack(packages: list[Path], target: Path) -> None:
    """Beside the old folder first, so that there is a whole one at any time."""
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for package in packages:
        subprocess.run(["dpkg-deb", "--extract", str(package), str(fresh)], check=True)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def _lead_to_its_libraries(python: Path) -> None:
    """This machine's C library is older than what they were built with."""
    [loader] = folder().glob("usr/lib64/ld-linux-*.so.*")
    [libraries] = {path.parent for path in folder().glob("usr/lib/*-linux-gnu/libc.so.6")}
    options = ["--set-interpreter", str(loader), "--force-rpath", "--set-rpath", str(libraries)]
    subprocess.run(["patchelf", *options, str(python.resolve())], check=True)


if __name__ == "__main__":
    sys.exit(main())
