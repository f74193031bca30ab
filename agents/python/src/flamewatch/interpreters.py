"""Which of a process's interpreters this is."""

from importlib import import_module
from types import ModuleType

# Neither is public; the second is the first's name before 3.13.
_MODULES = ("_interpreters", "_xxsubinterpreters")
_MAIN = 0


def _known() -> ModuleType | None:
    for name in _MODULES:
        try:
            return import_module(name)
        except ImportError:
            continue
    return None  # built without


_interpreters = _known()


def is_main() -> bool:
    """False in a subinterpreter. There threads may be forbidden, and the process has its agent."""
    if _interpreters is None:
        return True
    current = _interpreters.get_current()
    return int(current[0] if isinstance(current, tuple) else current) == _MAIN
