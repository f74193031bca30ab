"""Binaries that frames belong to, and functions that stand for addresses without symbols.

docs/decisions/0027-unsymbolised-frames.md gives the reasons.
"""

import re
from typing import NamedTuple

MAX_BINARY_NAME = 255  # characters: file systems allow 255 bytes
_SEPARATOR = "\t"
_BUILD_ID = re.compile(r"[^\s\[\]]{1,255}")
_BUILD_ID_FILE = re.compile(r"\[build-id ([^\s\[\]]{1,255})\]")
_ADDRESS = re.compile(r"(?:(.+)\+)?0x([1-9a-f][0-9a-f]{0,15})", re.DOTALL)


class Binary(NamedTuple):
    """Executable or library."""

    build_id: str  # "" if unknown
    path: str  # "" if unknown

    @property
    def mapping(self) -> str:
        """Return the text that trees store as the mapping of a frame; "" if nothing is known."""
        return f"{self.build_id}{_SEPARATOR}{self.path}" if self.build_id or self.path else ""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2][:MAX_BINARY_NAME] or "?"

    @property
    def function_file(self) -> str:
        """Return the file of the functions that stand for addresses in this binary.

        With it, addresses in different builds of a binary are different functions.
        """
        return f"[build-id {self.build_id}]" if self.build_id else ""


class FileAddress(NamedTuple):
    """Address without symbols."""

    binary: Binary
    offset: int  # in the file of the binary; the address itself if the binary is unknown


def read_build_id(text: str) -> str:
    """Return a build id; "" if the text cannot be one."""
    return text if _BUILD_ID.fullmatch(text) else ""


def parse_mapping(text: str) -> Binary:
    """Return the binary of a frame's stored mapping.

    Trees of version 1 have either its build id (hexadecimal) or its path.
    """
    build_id, separator, path = text.partition(_SEPARATOR)
    if separator:
        return Binary(build_id, path)
    return Binary("", text) if "/" in text or "." in text else Binary(text, "")


def find_address(name: str, file: str, mapping: str) -> FileAddress | None:
    """Return the address for which the decoder generated this function; None for others.

    Trees that are merged by function have no mappings: the function's file has the build id then.
    """
    found = _ADDRESS.fullmatch(name)
    if not found:
        return None
    prefix, offset = found[1], int(found[2], 16)
    if prefix is None:
        return FileAddress(Binary("", ""), offset) if not file and not mapping else None
    if mapping:
        binary = parse_mapping(mapping)
    else:
        build = _BUILD_ID_FILE.fullmatch(file)
        binary = Binary(build[1] if build else "", "" if prefix == "?" else prefix)
    if not (mapping or binary.build_id) or binary.name != prefix or binary.function_file != file:
        return None
    return FileAddress(binary, offset)
