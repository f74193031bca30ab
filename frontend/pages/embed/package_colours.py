"""Colours of packages: distinct for the heaviest ones of a selection.

The same assignment as static/flame-graph/packages/package-colours.js: the tests compare both. Texts
are in order of their UTF-16 units, and values are sums of floats, as in JavaScript.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from frontend.pages.embed.packages import Kind, Package, PackageCollector
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
    """Colours of the packages of a whole selection, the same in all of its views."""

    def __init__(
        self, functions: Iterable[FunctionRow], check: Callable[[], None] = lambda: None
    ) -> None:
        """Assign the colours; `check` is called for each function and may raise."""
        shares = _package_shares(functions, check)
        self._tokens = {
            **_assign_colours(shares, ("own",), "own", _OWN),
            **_assign_colours(shares, ("library", "stdlib"), "lib", _LIBRARIES),
        }

    def package_token(self, package: Package) -> str:
        """Return the package's colour, one of PACKAGE_TOKENS."""
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


def _package_shares(functions: Iterable[FunctionRow], check: Callable[[], None]) -> list[_Share]:
    """Sum the values of packages, by self value, largest first; omit packages without any."""
    collector = PackageCollector()
    shares: dict[str, _Share] = {}
    for function in functions:
        check()
        if function.total <= 0:
            continue
        package = collector.find_package(function.name, function.file)
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
    """Return the UTF-16 units of a text, whose order is that of texts in JavaScript."""
    return text.encode("utf-16-be", "surrogatepass")


def _hash(text: str) -> int:
    """Return the 32-bit FNV-1a hash of the UTF-16 units, mixed at the end."""
    value, units = 0x811C9DC5, _units(text)
    for i in range(0, len(units), 2):
        unit = int.from_bytes(units[i : i + 2])
        value = (value ^ unit) * 0x01000193 & 0xFFFFFFFF
    value ^= value >> 15
    return (value * 0x2C1B3C6D & 0xFFFFFFFF) >> 8
