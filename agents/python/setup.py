"""Build of the C sampler; all other settings are in pyproject.toml."""

import platform
import struct
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

if not sys.platform.startswith("linux"):
    raise SystemExit(
        f"flamewatch-agent runs on Linux only, and this is {sys.platform}: its sampler is made of"
        " Linux's per-thread CPU timers and process_vm_readv."
    )
if platform.machine() not in {"x86_64", "aarch64"} or struct.calcsize("P") != 8:
    raise SystemExit(
        f"flamewatch-agent runs on x86_64 and aarch64, and this is {8 * struct.calcsize('P')}-bit"
        f" Python on {platform.machine()}: its sampler knows CPython's structures of those alone."
    )

HERE = Path(__file__).parent

native = Extension(
    "flamewatch._native",
    sources=sorted(str(path.relative_to(HERE)) for path in HERE.glob("native/**/*.c")),
    depends=sorted(str(path.relative_to(HERE)) for path in HERE.glob("native/**/*.h")),
    include_dirs=["native"],
    # Stable ABI: one binary for all versions, which determines CPython's offsets at run time.
    py_limited_api=True,
    define_macros=[("_GNU_SOURCE", "1"), ("Py_LIMITED_API", "0x030b0000")],
    extra_compile_args=[
        "-std=c11",
        "-O2",
        "-g0",
        "-fvisibility=hidden",
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
        "-Werror=implicit-function-declaration",
        "-Werror=incompatible-pointer-types",
    ],
    libraries=["rt", "dl", "m", "pthread"],
)
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    # There is no stable ABI without the GIL; the agent logs there which types it cannot capture.
    setup()
else:
    setup(ext_modules=[native], options={"bdist_wheel": {"py_limited_api": "cp311"}})
