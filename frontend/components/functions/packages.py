"""Package of a function: the unit that the graph's colours, legend and labels name.

- Go: the import path, with its module shortened to the module's last element
- Java, Kotlin, Scala: the package of the class
- Python: the installed distribution (its top-level import name)
- Node.js: the package in node_modules, with its scope
- Rust: the crate
- own code of Python and Node.js: the last two directories of its file
- addresses without symbols: their executable or library
- native code by its file, a binary, or by its name
- a function without a file whose name has no package: an unknown one

It comes from the path of the source file, or from the function's name in languages that put the
package there. Scripts of the console get it with each tree (package_colours.py).

Some regular expressions take quadratic time for hostile names: 25 ms at most, because a name has at
most 4,096 bytes (MAX_NAME_BYTES of the engine).
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from frontend.text.display_names import SplitName, split_name

Kind = Literal["own", "library", "stdlib", "native", "unknown"]


# Functions of a process whose packages are cached: about 10 MB. Those with more characters in their
# names and files together are not, so that strange names take 30 MB at most.
_CACHED_FUNCTIONS = 20_000
_MAX_CACHED_LENGTH = 256


class Package(NamedTuple):
    """Package; `path` differs for packages of equal names."""

    name: str
    path: str
    kind: Kind

    @property
    def key(self) -> str:
        """Return a text that identifies the package."""
        return f"{self.kind} {self.path}"


class NamedPackage(NamedTuple):
    """Package of a function, and the beginning of the function's name that is the package.

    The beginning ends with the dot; "" for none.
    """

    package: Package
    prefix: str


_Rule = Callable[[str, str], Package | None]  # of a function's name and its file, with slashes


def _read_package(name: str, kind: Kind, path: str | None = None) -> Package:
    return Package(name, name if path is None else path, kind)


def _expression(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII | flags)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NATIVE = _read_package("native", "native")
_UNKNOWN = _read_package("unknown", "unknown")
# Standard library of languages whose functions do not name one of its packages.
_STDLIB = _read_package("stdlib", "stdlib")

_SEPARATOR = "\u00a0·\u00a0"  # spaces at an element's end would collapse

# Directory names that do not identify a package.
_EMPTY_FOLDERS = _words("src lib app python main java kotlin scala packages code")
# Directories where applications are deployed; code below them is the application's own.
_HEADS = _expression(
    r"^/?(?:usr/src/app|home/[^/]+|Users/[^/]+|root|srv|opt|app|code|workspace|work|var/task"
    r"|var/www|tmp)/"
)
_EXTENSION = _expression(r"\.[^.]+\Z")


def find_package(name: str, file: str) -> NamedPackage:
    """Return the package of a function by its name and its source file, "" if unknown.

    The selections of a project mostly have the same functions: those used last are cached.
    """
    if len(name) + len(file) > _MAX_CACHED_LENGTH:
        return _find(name, file)
    return _find_cached(name, file)


def split_function(name: str, file: str) -> SplitName:
    """Split a function's name for a list, where the package is truncated first."""
    package, prefix = find_package(name, file)
    if not prefix:
        return split_name(name)
    return SplitName(package.name + _SEPARATOR, name[len(prefix) :])


def _find(name: str, file: str) -> NamedPackage:
    path = _with_slashes(file)
    found = (package for rule in _RULES if (package := rule(name, path)))
    # A file without an ending is a binary.
    package = next(found, NATIVE if path else _UNKNOWN)
    return NamedPackage(package, _find_prefix(name, path))


_find_cached = lru_cache(_CACHED_FUNCTIONS)(_find)


def _find_prefix(name: str, file: str) -> str:
    if _is_go(name, file):
        prefix = name[: _go_import_length(name)]
    elif _is_java(name, file):
        prefix = _java_package(name)
    else:
        return ""
    if name[len(prefix) :].startswith("."):
        prefix = name[: len(prefix) + 1]
    return prefix if len(prefix) < len(name) else ""


def _with_slashes(file: str) -> str:
    """Return a path with slashes, without a drive or the scheme of a file URL."""
    if file.startswith("file://"):
        return file.removeprefix("file://")
    if "\\" in file or file[1:2] == ":":
        return re.sub(r"\A[A-Za-z]:/", "/", file.replace("\\", "/"))
    return file


def _find_ending(file: str) -> str:
    """Return the file name extension, "" if there is none."""
    _, dot, ending = file.rpartition(".")
    return ending if dot else ""


def _folders(file: str) -> Package:
    """Name own code by the last two directories of its path, or by the file without any."""
    parts = [part for part in _HEADS.sub("", file, count=1).split("/") if part]
    stem = _EXTENSION.sub("", parts.pop() if parts else "", count=1)
    telling = [part for part in parts if part not in _EMPTY_FOLDERS]
    return _read_package(".".join(telling[-2:]) or stem or "native", "own")


# Native code

_NATIVE_ENDINGS = _words("c cc cpp cxx h hpp S s so dylib dll")
_BINARY = _expression(r"\.(?:so|pyd|dylib|dll|node)(?:\.[\d.]+)?\Z")
_VERSIONED_BINARY = _expression(r"\.(?:so|dylib|dll)\.[\d.]+\Z")
_ADDRESS = _expression(r"\+0x[0-9a-f]+\Z", re.IGNORECASE)
# The kernel and what has no name stay native code.
_BINARY_ADDRESS = _expression(r"\A([^?\[].*)\+0x[0-9a-f]+\Z", re.IGNORECASE | re.DOTALL)
_ENGINE_NAMES = frozenset(
    {
        "(garbage collector)",
        "(program)",
        "(idle)",
        "(native)",
        "(waiting for the GIL)",
        "[native code or JVM, not sampled]",
    }
)


def _find_binary_package(_name: str, file: str) -> Package | None:
    """Return the package of a binary inside it: extension modules of Python and Node.js."""
    if "-packages/" not in file and "/node_modules/" not in file:
        return None
    if not _BINARY.search(file):
        return None
    return _find_python_package(file) or _find_node_package(file)


def _native_frame(name: str, file: str) -> Package | None:
    if "+0" in name and (not file or file.startswith("[build-id ")):
        found = _BINARY_ADDRESS.search(name)
        if found:
            return _read_package(found[1], "library")
    is_native = (
        _find_ending(file) in _NATIVE_ENDINGS
        or ("+0" in name and _ADDRESS.search(name))
        or _VERSIONED_BINARY.search(file)
        or name in _ENGINE_NAMES
        or file.startswith(("[", "<built-in", "<string"))
    )
    return NATIVE if is_native else None


# Python

_PYTHON_ENDINGS = _words("py pyx pyi")
# Top-level import names that several Python distributions share.
_PYTHON_NAMESPACES = _words("google azure zope sphinxcontrib backports jaraco")
# A dot of JavaScript ends at each of its line terminators.
_INSTALLED = _expression(r"/(?:site|dist)-packages/([^\n\r\u2028\u2029]+)")
_PYTHON_HOME = _expression(r"/python\d[\d.]*t?(?:\.zip)?/", re.IGNORECASE)
# numpy.libs has the shared libraries of numpy; modules without a folder have an extension.
_MODULE_END = _expression(r"\.libs\Z|\.(?:py[xid]?|(?:[\w-]+\.)?so)\Z")


def _python_frame(_name: str, file: str) -> Package | None:
    if file.startswith("<frozen"):
        return _STDLIB
    if _find_ending(file) not in _PYTHON_ENDINGS:
        return None
    if installed := _find_python_package(file):
        return installed
    return _STDLIB if _PYTHON_HOME.search(file) else _folders(file)


def _find_python_package(file: str) -> Package | None:
    found = _INSTALLED.search(file)
    if not found:
        return None
    parts = found[1].split("/")
    levels = 1
    if parts[0] in _PYTHON_NAMESPACES:
        levels = 3 if parts[1:2] == ["cloud"] else 2
    *before, last = parts[: max(1, min(levels, len(parts) - 1))]
    return _read_package(".".join([*before, _MODULE_END.sub("", last, count=1)]), "library")


# Go

# First elements of the import paths of Go's standard library.
_GO_STDLIB = _words(
    "archive arena bufio bytes cmp compress container context crypto database debug embed"
    " encoding errors expvar flag fmt go hash html image index internal io iter log maps math"
    " mime net os path plugin reflect regexp runtime slices sort strconv strings structs sync"
    " syscall testing text time unicode unique unsafe weak"
)
# Hosts whose module paths have an owner and a repository; others have one element after the host.
_GO_HOSTS = _words("github.com gitlab.com bitbucket.org codeberg.org golang.org")
# Last elements of module paths that say too little without the one before.
_GO_VAGUE = _words("api client common core db go kit lib sdk server sys util utils")
_GO_RUNTIME = _expression(r"\A(?:runtime/internal|internal/runtime)(?:/|\Z)")
_GO_QUALIFIED = _expression(r"\A[^.(]+/[a-z][\w-]*\.")
_GO_MODULE = _expression(r"(?:/pkg/mod/|/vendor/|\A)((?:[^/]+/)*[^/]+)@v[^/]*/")
_GO_VERSION = _expression(r"\Av\d+\Z")


def _go_frame(name: str, file: str) -> Package | None:
    if not _is_go(name, file):
        return None
    imported = _go_import(name)
    if imported == "main" or imported.startswith("main/"):
        return _read_package("main", "own")
    if standard := _go_standard_import(imported, file):
        if _GO_RUNTIME.search(standard):
            return _read_package("runtime", "stdlib")
        return _read_package(standard.removeprefix("vendor/golang.org/"), "stdlib")
    versioned = _GO_MODULE.search(file) if "@v" in file else None
    parts = imported.split("/")
    in_module = len(versioned[1].split("/")) if versioned else _go_module_length(parts)
    kind: Kind = "library" if versioned or "/vendor/" in file else "own"
    return _read_package(_short_import(parts, in_module), kind, imported)


def _is_go(name: str, file: str) -> bool:
    if file.endswith(".go"):
        return True
    if file.endswith(".s"):
        return "." in name  # Go's assembly; native symbols have no dot
    if file and file != "<autogenerated>":
        return False
    is_method = name.startswith("runtime.") or ".(*" in name
    return is_method or bool(_GO_QUALIFIED.search(_go_path(name)))


def _go_standard_import(imported: str, file: str) -> str:
    """Return the import path of a function of Go's standard library, "" for other functions.

    A file in Go's source tree decides: the runtime has functions under the names of other packages.
    """
    if not _is_standard(imported):
        return ""
    parent = file.rpartition("/")[0]
    if not file.startswith("/"):  # built with -trimpath
        return parent if _is_standard(parent) else imported
    root = file.rfind("/src/")
    folder = "" if root < 0 else parent[root + len("/src/") :]
    return folder if _is_standard(folder) else ""


def _is_standard(imported: str) -> bool:
    """Return whether an import path begins like one of Go's standard library."""
    first = imported.partition("/")[0]
    return first in _GO_STDLIB or first == "vendor"


def _go_path(name: str) -> str:
    """Remove the type arguments of a Go function: they contain import paths too."""
    return name.partition("[")[0]


def _go_import_length(name: str) -> int:
    """Return the length of the import path in a name: 8 for `net/http.(*conn).serve`."""
    path = _go_path(name)
    slash = path.partition("(")[0].rfind("/")
    dot = path.find(".", slash + 1)
    return len(path) if dot < 0 else dot


def _go_import(name: str) -> str:
    """Return the import path of a Go function: `net/http` for `net/http.(*conn).serve`."""
    # Linkers write a dot in the last element as %2e.
    return name[: _go_import_length(name)].replace("%2e", ".")


def _go_module_length(parts: Sequence[str]) -> int:
    """Return the number of elements of an import path that are its module's."""
    if "." not in parts[0]:
        return 1
    length = 3 if parts[0] in _GO_HOSTS else 2
    has_version = length < len(parts) and _GO_VERSION.search(parts[length])
    return length + 1 if has_version else length


def _short_import(parts: Sequence[str], in_module: int) -> str:
    """Return an import path that begins with the module's last element, without its version.

    `in_module` is the number of elements of the module.
    """
    last = in_module - 1
    if 0 < last < len(parts) and _GO_VERSION.search(parts[last]):
        last -= 1
    position = min(last, len(parts) - 1)
    is_vague = position > 0 and (parts[position] in _GO_VAGUE or parts[position] in _GO_STDLIB)
    return "/".join(
        [*parts[position - 1 if is_vague else position : position + 1], *parts[in_module:]]
    )


# Node.js

_NODE_FILE = _expression(r"\.(?:[cm]?js|[cm]?ts|jsx|tsx)\Z")


def _node_frame(_name: str, file: str) -> Package | None:
    if file.startswith(("node:", "internal/")):
        return _STDLIB
    if not _NODE_FILE.search(file):
        return None
    return _find_node_package(file) or _folders(file)


def _find_node_package(file: str) -> Package | None:
    parts = file.split("/node_modules/")
    if len(parts) < 2 and not file.startswith("node_modules/"):
        return None
    inside = parts[-1].removeprefix("node_modules/").split("/")
    return _read_package("/".join(inside[: 2 if inside[0].startswith("@") else 1]), "library")


# Java, Kotlin, Scala

_JAVA_RUNTIME = _expression(r"\A(?:java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala)\.")
_JAVA_LIBRARY = _expression(
    r"\A(?:org\.(?:apache|springframework|hibernate|eclipse|slf4j|jboss|postgresql|h2|mockito|junit"
    r"|glassfish|reactivestreams|jetbrains|json|bouncycastle|xerial|elasticsearch|mongodb|redisson"
    r"|quartz)"
    r"|com\.(?:google|fasterxml|mysql|zaxxer|amazonaws|netflix|squareup|datastax|rabbitmq"
    r"|github\.benmanes|microsoft|oracle)"
    r"|io\.(?:netty|grpc|micrometer|vertx|micronaut|quarkus|lettuce|opentelemetry|undertow"
    r"|projectreactor|reactivex)"
    r"|ch\.qos|reactor|okhttp3|okio|retrofit2|redis\.clients|software\.amazon|net\.bytebuddy|akka"
    r"|play)\."
)
_JAVA_NAME = _expression(r"\A(?:[a-z]\w*\.)+[A-Z][\w$]*\.")
_JAVA_FILE = _expression(r"\.(?:java|kt|scala|groovy)\Z")
_JAVA_ARGUMENTS = _expression(r"[(<].*\Z", re.DOTALL)
_JAVA_TYPE = _expression(r"(?:\A|\.)[A-Z]")


def _java_frame(name: str, file: str) -> Package | None:
    if not _is_java(name, file):
        return None
    found = _java_package(name)
    if not found:
        return _folders(file)
    if _JAVA_RUNTIME.search(name):
        return _read_package(found, "stdlib")
    return _read_package(found, "library" if _JAVA_LIBRARY.search(name) else "own")


def _is_java(name: str, file: str) -> bool:
    is_bare = not file and _JAVA_NAME.search(name)
    return bool(is_bare or _JAVA_FILE.search(file))


def _java_package(name: str) -> str:
    """Return the package of a Java method: `java.util` for `java.util.HashMap.get`."""
    plain = _JAVA_ARGUMENTS.sub("", name, count=1)
    if found := _JAVA_TYPE.search(plain):
        return plain[: found.start()]
    return plain.rpartition(".")[0]


# Rust

_CARGO_REGISTRY = _expression(r"/registry/src/[^/]+/([^/]+?)-\d[^/]*/")
_RUST_STDLIB = _expression(r"\A/rustc/|/library/(?:std|core|alloc)/")
_RUST_CRATE = _expression(r"\A[<&*([]*(?:(?:mut|dyn|const) )*([a-zA-Z_]\w*)::")


def _rust_frame(name: str, file: str) -> Package | None:
    if not file.endswith(".rs"):
        return None
    if registered := _CARGO_REGISTRY.search(file):
        return _read_package(registered[1], "library")
    if _RUST_STDLIB.search(file):
        return _STDLIB
    crate = _RUST_CRATE.search(name)
    if not crate:
        return _folders(file)
    return _read_package(crate[1], "library" if "/.cargo/git/" in file else "own")


# Source files of other languages; binaries have no such ending.
_OTHER_FILE = _expression(r"\.[a-zA-Z]+\Z|\A<\w")


def _other_frame(_name: str, file: str) -> Package | None:
    return _folders(file) if _OTHER_FILE.search(file) else None


_RULES: tuple[_Rule, ...] = (
    *(_go_frame, _find_binary_package, _native_frame, _python_frame),
    *(_node_frame, _java_frame, _rust_frame, _other_frame),
)
