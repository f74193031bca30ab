"""The compiled parts of the engine; everything else is in pyproject.toml."""

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

modules = sorted(Path("profiles/engine").glob("*.pyx"))
extensions = [
    Extension(".".join(path.with_suffix("").parts), [str(path)], extra_compile_args=["-O3", "-g0"])
    for path in modules
]
setup(ext_modules=cythonize(extensions, compiler_directives=DIRECTIVES, quiet=True))
