"""The compiled modules of the engine; everything else is in pyproject.toml."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

# Bounds are checked: these modules read bytes that strangers send.
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": True,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "show_performance_hints": False,
}
# The tests with sanitizers replace them.
FLAGS = os.environ.get("FLAMEWATCH_ENGINE_FLAGS", "-O3 -g0").split()
# Cython's support code for memoryviews, generated once instead of in each module.
SUPPORT = "profiles.engine.cython_support"

sources = {
    ".".join(path.with_suffix("").parts): str(path)
    for path in sorted(Path("profiles/engine").rglob("*.pyx"))
}
sources[SUPPORT] = f"{SUPPORT.replace('.', '/')}.c"
extensions = [Extension(name, [path], extra_compile_args=FLAGS) for name, path in sources.items()]
setup(
    ext_modules=cythonize(
        extensions,
        compiler_directives=DIRECTIVES,
        build_dir="build/cython",
        shared_utility_qualified_name=SUPPORT,
        quiet=True,
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
