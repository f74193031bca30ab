"""Detection of subinterpreters."""

from importlib import import_module
from types import ModuleType

# Neither module is public. The second name is the one before 3.13.
_MODULES = ("_interpreters", "_xxsubinterpreters")
_MAIN = 0


def _import_module() -> ModuleType | None:
    for name in _MODULES:
        try:
            return import_module(name)
        except ImportError:
            continue
    return None  # Python was built without them


_interpreters = _import_module()


def is_main() -> bool:
    """Return False in a subinterpreter.

    Threads may be forbidden there, and the main interpreter has the agent of the process.
    """
    if _interpreters is None:
        return True
    current = _interpreters.get_current()
    return int(current[0] if isinstance(current, tuple) else current) == _MAIN
