"""Readable names of Java classes and methods."""

import re

_PRIMITIVES = {
    **{"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int", "J": "long"},
    **{"S": "short", "Z": "boolean"},
}
# Parts of generated names that differ in each run of a program: equal code gets equal names.
_ADDRESS = re.compile(
    r"(?<=\$\$Lambda)(?:\$\d+)?(?:[/.+](?:0x[0-9a-f]+|\d+))*|[/.+]0x[0-9a-f]{6,16}(?![0-9a-f])"
)
_LIBRARY = re.compile(r"\.(so|dylib|dll)(\W|$)")
_NUMBER_PREFIXES = ("GeneratedMethodAccessor", "GeneratedConstructorAccessor")


def class_name(internal: str) -> str:
    """Convert a name of the class file format: `[Lcom/example/Shop;` is `com.example.Shop[]`."""
    depth = len(internal) - len(internal.lstrip("["))
    name = internal[depth:]
    if depth:
        is_object = name.startswith("L") and name.endswith(";")
        name = name[1:-1] if is_object else _PRIMITIVES.get(name, name)
    return stable(name.replace("/", ".")) + "[]" * depth


def is_library(owner: str) -> bool:
    """Return True if native code has the file of a library in place of a class."""
    return _LIBRARY.search(owner) is not None


def method_name(owner: str, name: str) -> str:
    """Return `com.example.Shop.checkout`; native functions have no class."""
    method = stable(name)
    return f"{owner}.{method}" if owner else method


def stable(name: str) -> str:
    """Remove the addresses and numbers of generated classes from a name."""
    name = _ADDRESS.sub("", name)
    for prefix in _NUMBER_PREFIXES:
        if prefix in name:
            head, _, tail = name.partition(prefix)
            name = head + prefix + tail.lstrip("0123456789")
    return name
