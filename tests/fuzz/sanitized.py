"""Build of the engine's compiled modules with AddressSanitizer and UndefinedBehaviorSanitizer."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.paths import ROOT

# Python's own flags contain -fwrapv: signed overflow is defined, and not reported.
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
# The server's memory limits do not work here, because AddressSanitizer maps terabytes.
MOST_MEGABYTES = 3000
_COPIED = ("profiles",)
_IGNORED = ("*.so", "__pycache__")
_LEFT_OUT = frozenset({"build", "data", "dist", "node_modules"})


class SanitizerMissing(Exception):
    """The compiler has no sanitizers; the text says which package has them."""


@dataclass(frozen=True, slots=True)
class SanitizedBuild:
    """Folder with the project's packages, of which `profiles` has sanitized modules."""

    folder: Path

    def environment(self) -> Mapping[str, str]:
        """Return the variables for a process that imports the modules."""
        return {
            "LD_PRELOAD": f"{_runtime('libasan.so')} {_runtime('libubsan.so')}",
            "ASAN_OPTIONS": (
                "detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=32:"
                f"hard_rss_limit_mb={MOST_MEGABYTES}:max_allocation_size_mb={MOST_MEGABYTES}"
            ),
            "UBSAN_OPTIONS": "print_stacktrace=1",
            # Every object has an allocation of its own, so that reads beyond it are noticed.
            "PYTHONMALLOC": "malloc",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def build(folder: Path) -> SanitizedBuild:
    """Compile the modules into `folder`, in some minutes of CPU time; the sources stay as they are.

    Raise SanitizerMissing without the sanitizers' libraries, CalledProcessError if it fails.
    """
    _runtime("libasan.so")
    for path in ROOT.iterdir():
        if path.name in _COPIED:
            shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns(*_IGNORED))
        elif not path.name.startswith(".") and path.name not in (
            "build",
            "data",
            "dist",
            "node_modules",
        ):
            (folder / path.name).symlink_to(path)
    flags = {"CFLAGS": SANITIZERS, "LDFLAGS": SANITIZERS, "FLAMEWATCH_ENGINE_FLAGS": "-O1 -g"}
    subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
        cwd=folder,
        env=os.environ | flags,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return SanitizedBuild(folder)


def _runtime(library: str) -> str:
    """Return the path of a sanitizer's library."""
    command = ["gcc", f"-print-file-name={library}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(path).is_absolute():
        raise SanitizerMissing(f"gcc has no {library}; on Debian, install libgcc-12-dev.")
    return path
