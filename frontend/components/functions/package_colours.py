"""Colours of packages: distinct for the heaviest of a selection, and the same in all its views.

Warm colours are own code, cool ones libraries, greys are native code and unknown packages. Packages
beyond the palette share one colour of their kind.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from frontend.components.functions.packages import Kind, Package, find_package
from profiles.query import FunctionRow

_OWN, _LIBRARIES = 4, 8

NATIVE = "native"  # also of nodes that are no functions
_UNKNOWN = "unknown"
# Names of the colours in flamewatch.css, without the leading dashes.
PACKAGE_TOKENS = (
    *(f"own-{i + 1}" for i in range(_OWN)),
    "own-rest",
    *(f"lib-{i + 1}" for i in range(_LIBRARIES)),
    "lib-rest",
    _UNKNOWN,
    NATIVE,
)


class PackageColours:
    """Packages of a whole selection with their shares and colours, for all of its views."""

    def __init__(
        self, functions: Iterable[FunctionRow], check: Callable[[], None] = lambda: None
    ) -> None:
        """Assign the colours; `check` is called for each function and may raise."""
        self._shares = _sum_shares(functions, check)
        self._tokens = {
            **_assign_colours(self._shares, ("own",), "own", _OWN),
            **_assign_colours(self._shares, ("library", "stdlib"), "lib", _LIBRARIES),
        }

    def find_token(self, name: str, file: str) -> str:
        """Return the colour of a function's package, one of PACKAGE_TOKENS."""
        return self._package_token(find_package(name, file).package)

    def find_swatch_class(self, name: str, file: str) -> str:
        """Return the CSS class of a swatch beside a function."""
        return f"p-{self.find_token(name, file).replace('-', '')}"

    def add_columns(self, document: dict[str, Any], check: Callable[[], None]) -> None:
        """Add the packages to the JSON document of a tree, or of a function's callers and callees.

        The document gets `packages`: those with a share, largest first, then those without. The
        frames of each tree get `package`, an index of it, and `prefix`: the number of UTF-16 units
        at the beginning of the name that are its package.
        """
        indexes = {share.package: index for index, share in enumerate(self._shares)}
        trees = [document] if "frames" in document else [document["callers"], document["callees"]]
        for tree in trees:
            names, files, frames = tree["names"], tree["files"], tree["frames"]
            frames["package"], frames["prefix"] = package_column, prefix_column = [], []
            for name_index, file_index in zip(frames["name"], frames["file"], strict=True):
                check()
                name, file = names[name_index], files[file_index]
                package, prefix = find_package(name, file)
                package_column.append(indexes.setdefault(package, len(indexes)))
                prefix_column.append(len(prefix) if prefix.isascii() else len(_units(prefix)) // 2)
        shares = {share.package: share for share in self._shares}
        document["packages"] = [
            {
                **package._asdict(),
                "colour": self._package_token(package),
                "self": shares[package].self if package in shares else 0,
                "area": shares[package].area if package in shares else 0,
            }
            for package in indexes
        ]

    def _package_token(self, package: Package) -> str:
        if package.kind == "native":
            return NATIVE
        if package.kind == "unknown":
            return _UNKNOWN
        rest = "own-rest" if package.kind == "own" else "lib-rest"
        return self._tokens.get(package.key, rest)


@dataclass(slots=True)
class _Share:
    package: Package
    self: float = 0.0
    area: float = 0.0  # sum of its functions' totals: the size of its frames in a graph


def _sum_shares(functions: Iterable[FunctionRow], check: Callable[[], None]) -> list[_Share]:
    """Sum the values of packages, by self value, largest first; omit packages without any."""
    shares: dict[str, _Share] = {}
    for function in functions:
        check()
        if function.total <= 0:
            continue
        package, _ = find_package(function.name, function.file)
        share = shares.setdefault(package.key, _Share(package))
        share.self += function.self
        share.area += function.total
    return sorted(shares.values(), key=lambda share: (-share.self, _units(share.package.key)))


def _assign_colours(
    shares: Sequence[_Share], kinds: Sequence[Kind], prefix: str, count: int
) -> dict[str, str]:
    """Assign a colour to each of the `count` heaviest packages of some kinds, by key.

    They are in turn the next one by self value and by the size of its frames. A package prefers the
    colour of its key's hash, so that it mostly has the same one in other selections.
    """
    by_self = [share for share in shares if share.package.kind in kinds]
    by_area = sorted(by_self, key=lambda share: -share.area)
    pairs = zip(by_self, by_area, strict=True)
    heaviest = dict.fromkeys(share.package.key for pair in pairs for share in pair)
    slots: dict[int, str] = {}
    for key in sorted(list(heaviest)[:count], key=_units):
        slot = _hash(key) % count
        while slot in slots:
            slot = (slot + 1) % count
        slots[slot] = key
    return {key: f"{prefix}-{slot + 1}" for slot, key in slots.items()}


def _units(text: str) -> bytes:
    """Return the UTF-16 units of a text: scripts count them, and colours are hashes of them."""
    return text.encode("utf-16-be", "surrogatepass")


def _hash(text: str) -> int:
    """Return the 32-bit FNV-1a hash of the UTF-16 units, mixed at the end."""
    value, units = 0x811C9DC5, _units(text)
    for i in range(0, len(units), 2):
        unit = int.from_bytes(units[i : i + 2])
        value = (value ^ unit) * 0x01000193 & 0xFFFFFFFF
    value ^= value >> 15
    return (value * 0x2C1B3C6D & 0xFFFFFFFF) >> 8
