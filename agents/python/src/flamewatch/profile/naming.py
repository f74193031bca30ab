"""Qualification of function names with modules: code objects know only their file."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

from flamewatch.capture.stacks import Frame

_FROZEN = "<frozen "


def modules_by_file(modules: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Map each file to the name of the module that was loaded from it.

    Attributes of the host's modules are read with `ModuleType`'s own method, because some modules
    import others or have other side effects on attribute access.
    """
    found: dict[str, str] = {}
    for name, module in list((sys.modules if modules is None else modules).items()):
        if issubclass(type(module), ModuleType):
            file = ModuleType.__getattribute__(module, "__dict__").get("__file__")
            if type(file) is str and (name == "__main__" or file not in found):
                found[file] = name
    return found


def namer(modules: Mapping[str, str]) -> Callable[[Frame], Frame]:
    """Return a function that renames frames to "module.function".

    Functions of the main program keep their bare names.
    """
    named: dict[int, tuple[Frame, Frame]] = {}

    def name(frame: Frame) -> Frame:
        entry = named.get(id(frame))
        if entry is None:
            # The original frame is stored with the result, because its id is unique only while it
            # lives.
            entry = named[id(frame)] = frame, replace(frame, function=_qualify(frame, modules))
        return entry[1]

    return name


def _qualify(frame: Frame, modules: Mapping[str, str]) -> str:
    if frame.file.startswith(_FROZEN):
        module = frame.file.removeprefix(_FROZEN).removesuffix(">")
    else:
        module = modules.get(frame.file, "")
    return frame.function if module in {"", "__main__"} else f"{module}.{frame.function}"
