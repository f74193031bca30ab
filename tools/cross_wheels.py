"""Wheels of the Python agent for every platform, compiled by Zig's C compiler.

Zig brings the headers and symbol versions of each C library, so one machine builds for all. The
Python parts of a wheel are the same everywhere, and so is the binary's interface to Python (the
stable ABI): a wheel for another platform is this machine's with another binary and another tag.
"""

import importlib
import importlib.util
import os
import re
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import setuptools  # noqa: F401  it brings distutils, which Python 3.12 and later lack

Run = Callable[[list[str]], None]
BINARY = Path("flamewatch") / "_native.abi3.so"
_TRIPLES = ("x86_64-linux-gnu", "aarch64-linux-gnu")  # as Debian's headers name platforms


@dataclass(frozen=True, slots=True)
class Platform:
    zig: str
    tag: str
    glibc: tuple[int, int] | None  # the newest version that the binary may need


# glibc 2.17 (2013) has every function that the agent calls, and is the oldest that Zig and pip's
# manylinux2014 share. musl 1.2 is that of Alpine 3.13 and later; CPython 3.11 came with 3.17.
TARGETS = [
    Platform("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", (2, 17)),
    Platform("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", (2, 17)),
    Platform("x86_64-linux-musl", "musllinux_1_2_x86_64", None),
    Platform("aarch64-linux-musl", "musllinux_1_2_aarch64", None),
]


def glibc_versions(binary: bytes) -> set[tuple[int, int]]:
    """Return the versions of glibc whose symbols a binary needs."""
    return {(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", binary)}


def build(source: Path, native_wheel: Path, folder: Path, run: Run) -> None:
    """Add a wheel for each target to `folder`; say so and add none without the compiler."""
    if importlib.util.find_spec("ziglang") is None:
        print(
            "The cross compiler (ziglang, requirements/wheels.txt) is not installed:"
            " only the wheel of this machine is built.",
            file=sys.stderr,
        )
        return
    extension = _extension(source)
    with tempfile.TemporaryDirectory(prefix="cross-") as name:
        scratch = Path(name)
        run([sys.executable, "-m", "wheel", "unpack", "--dest", str(scratch), str(native_wheel)])
        (unpacked,) = scratch.iterdir()
        includes = _includes(scratch / "include")
        for target in TARGETS:
            run(_compile_command(source, extension, target, includes, unpacked / BINARY))
            check(target, (unpacked / BINARY).read_bytes())
            packed = scratch / target.tag
            packed.mkdir()
            wheel = [sys.executable, "-m", "wheel"]
            run([*wheel, "pack", "--dest-dir", str(packed), str(unpacked)])
            (path,) = packed.glob("*.whl")
            run([*wheel, "tags", "--remove", "--platform-tag", target.tag, str(path)])
            (path,) = packed.glob("*.whl")
            shutil.move(path, folder / path.name)


def _extension(source: Path) -> Any:
    """Return the extension that setup.py describes: its sources, macros, options and libraries."""
    distutils_core = importlib.import_module("distutils.core")
    before = Path.cwd()
    os.chdir(source)  # where setup.py looks for pyproject.toml
    try:
        distribution = distutils_core.run_setup("setup.py", stop_after="init")
    finally:
        os.chdir(before)
    (extension,) = distribution.ext_modules
    return extension


def _includes(overlay: Path) -> list[Path]:
    """Return the folders of Python's headers, for every platform.

    Debian's pyconfig.h includes one from a folder of the platform. Those of the two platforms
    agree in all that the stable ABI uses (both have 64-bit pointers and longs).
    """
    headers = Path(sysconfig.get_paths()["include"])
    version = headers.name
    platform_headers = [Path("/usr/include") / triple / version for triple in _TRIPLES]
    found = [path / "pyconfig.h" for path in platform_headers if (path / "pyconfig.h").exists()]
    for triple in _TRIPLES if found else ():
        (overlay / triple / version).mkdir(parents=True)
        shutil.copy(found[0], overlay / triple / version)
    return [headers, overlay]


def _compile_command(
    source: Path, extension: Any, target: Platform, includes: list[Path], binary: Path
) -> list[str]:
    """Return one command that compiles and links the extension."""
    return [
        *(sys.executable, "-m", "ziglang", "cc", "-target", target.zig, "-shared", "-fPIC", "-s"),
        *("-fno-sanitize=undefined", "-Wno-macro-redefined"),
        *extension.extra_compile_args,
        *(f"-D{name}={value}" for name, value in extension.define_macros),
        *(f"-I{source / folder}" for folder in extension.include_dirs),
        *(f"-I{folder}" for folder in includes),
        *(str(source / path) for path in extension.sources),
        *("-o", str(binary)),
        *(f"-l{name}" for name in extension.libraries),
    ]


def check(target: Platform, binary: bytes) -> None:
    """Raise ValueError if the binary needs more than its tag promises."""
    newest = max(glibc_versions(binary), default=None)
    if newest is not None and (target.glibc is None or newest > target.glibc):
        raise ValueError(
            f"The binary for {target.tag} needs glibc {newest[0]}.{newest[1]}: a function that the"
            " agent calls is newer than that. Call an older one, or raise the target."
        )
