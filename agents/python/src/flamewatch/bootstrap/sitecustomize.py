"""Start of the agent in every Python interpreter under `flamewatch-run`.

This module hides any other `sitecustomize` on the path, so it runs that one first, as Python would
have done.
"""

import importlib.util
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

_HERE = str(Path(__file__).parent)
# Seconds before the first handshake: programs that a program starts are often short-lived.
_DESCENDANT_PAUSE = 2.0


def _run_the_other() -> None:
    sys.path[:] = [path for path in sys.path if path != _HERE]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _start() -> None:
    # If only the environment was set, the first process is taken to be the program.
    asked_for = os.environ.setdefault("FLAMEWATCH_RUN_PID", str(os.getpid())) == str(os.getpid())
    try:
        from flamewatch import once  # noqa: PLC0415  this Python may not have it
        from flamewatch.config import Arguments  # noqa: PLC0415
        from flamewatch.process import lifecycle  # noqa: PLC0415
    except ImportError as error:
        if asked_for:
            print(f"flamewatch: {sys.executable} cannot be profiled: {error}", file=sys.stderr)
        return
    wish = once.Wish.read(os.environ)
    if wish is not None:
        if asked_for:
            once.begin(wish)
        return
    pause = 0.0 if asked_for else _DESCENDANT_PAUSE
    lifecycle.start(Arguments(), first_pause=pause, quiet=not asked_for)


try:
    _run_the_other()
finally:
    _start()
