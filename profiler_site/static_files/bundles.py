"""Bundle ES modules: a page loads a few files instead of one for each of its modules.

An entry is a module that a page, an `import()` or a worker names; its file has its name. Modules
that several entries need are in one file, which all entries share and that is evaluated first: they
must do nothing to a page unless they are called, and define no elements. Each module becomes a
function that is called once, so that names in two modules cannot collide. Comments are removed.

Of imports and exports only the usual ones are read, each on lines of its own: `import './a.js';`,
`import { a, b as c } from './a.js';`, and `export` before a function, a class or one constant.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rjsmin import jsmin

# A file for each set of entries would be exact, but then the flame page has 21 files instead of 7,
# most of them with one small module.
COMMON = "bundles/common.js"

_IMPORT = re.compile(r"^import (?:\{([^}]*)\} from )?'(\.{1,2}/[^']+\.js)';$", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:(?:async )?function\*?|class|const) (\w+))", re.MULTILINE)
_UNREAD = re.compile(r"^(?:import|export|await)\b(?!\().*", re.MULTILINE)
# Paths of scripts that a module loads itself: by import(), or as a worker.
_LOADED = re.compile(r"(?<=\bimport\(')\.[^']+\.js(?='\))|(?<=\bnew URL\(')\.[^']+\.js(?=')")


class BundleError(Exception):
    """A module cannot be bundled; the message names it and says why."""


@dataclass(frozen=True)
class _Module:
    """One module without its imports and exports; other modules by their paths."""

    path: str
    body: str
    imports: Mapping[str, list[str]]  # `a` or `a as b`, by path
    exports: tuple[str, ...]
    loads: frozenset[str]

    @property
    def variable(self) -> str:
        """The name of the object that has the module's exports."""
        return "$" + re.sub(r"\W", "_", self.path.removesuffix(".js"))


def bundled(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the files to serve instead of the modules `sources`, both by path.

    Entries are the modules that no other module imports, and those that are loaded by `import()` or
    as workers. The text of `COMMON` is replaced. Raises `BundleError`.
    """
    modules = {path: _read(path, source) for path, source in sources.items() if path != COMMON}
    _check_names(modules)
    imported = {path for module in modules.values() for path in module.imports}
    load_and_render = {path for module in modules.values() for path in module.loads}
    entries = sorted((modules.keys() - imported) | load_and_render)
    common, own = _grouped(modules, entries)
    files = {path: _entry_text(modules[path], own.get(path, []), modules) for path in entries}
    exported = ",".join(modules[path].variable for path in common)
    texts = [_module_text(COMMON, modules[path], modules) for path in common]
    return files | {COMMON: f"{''.join(texts)}export{{{exported}}};\n"}


def _read(path: str, source: str) -> _Module:
    imports: dict[str, list[str]] = {}
    for names, imported in _IMPORT.findall(source):
        imports.setdefault(_joined(path, imported), []).extend(_listed(names))
    exports = tuple(_EXPORT.findall(source))
    body = _EXPORT.sub("", _IMPORT.sub("", source))
    if unread := _UNREAD.search(body):
        raise BundleError(
            f"{path}: `{unread.group()}` is not bundled: import names or a path, export functions, "
            "classes and single constants where they are declared, and await inside functions"
        )
    body = jsmin(body)
    loads = frozenset(_joined(path, name) for name in _LOADED.findall(body))
    return _Module(path, body, imports, exports, loads)


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _check_names(modules: Mapping[str, _Module]) -> None:
    for module in modules.values():
        for path in [*module.imports, *sorted(module.loads)]:
            if path not in modules:
                raise BundleError(f"{module.path}: there is no {path}")
            names = {name.split()[0] for name in module.imports.get(path, [])}
            if missing := sorted(names.difference(modules[path].exports)):
                raise BundleError(f"{module.path}: {path} exports no {missing[0]}")


def _grouped(
    modules: Mapping[str, _Module], entries: Iterable[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the modules that entries share, and those of each entry alone.

    Each module is after those that it imports.
    """
    users: dict[str, list[str]] = {}
    for entry in entries:
        for path in _in_order(modules, entry):
            users.setdefault(path, []).append(entry)
    own: dict[str, list[str]] = {}
    for path, found in users.items():
        if len(found) == 1:
            own.setdefault(found[0], []).append(path)
    return [path for path, found in users.items() if len(found) > 1], own


def _in_order(modules: Mapping[str, _Module], entry: str) -> Iterator[str]:
    """Yield the entry and all that it imports, each after what it imports itself."""
    done: set[str] = set()

    def visited(path: str, importers: tuple[str, ...]) -> Iterator[str]:
        if path in importers:
            raise BundleError(f"modules import each other: {' → '.join([*importers, path])}")
        if path not in done:
            for imported in modules[path].imports:
                yield from visited(imported, (*importers, path))
            done.add(path)
            yield path

    return visited(entry, ())


def _entry_text(entry: _Module, own: list[str], modules: Mapping[str, _Module]) -> str:
    """Return the file of an entry; `own` is empty if the entry itself is shared."""
    used = dict.fromkeys(path for own_path in own for path in modules[own_path].imports)
    shared = [path for path in used if path not in own] if own else [entry.path]
    text = ""
    if shared:
        variables = ",".join(modules[path].variable for path in shared)
        text = f"import{{{variables}}}from'{_relative(entry.path, COMMON)}';\n"
    text += "".join(_module_text(entry.path, modules[path], modules) for path in own)
    if entry.exports:
        text += f"export const{{{','.join(entry.exports)}}}={entry.variable};\n"
    return text


def _module_text(file: str, module: _Module, modules: Mapping[str, _Module]) -> str:
    body = _LOADED.sub(lambda found: _relative(file, _joined(module.path, found[0])), module.body)
    if file == module.path and not module.imports and not module.exports:
        return f"{body}\n"  # which may be no module
    names = "".join(
        f"const{{{','.join(names).replace(' as ', ':')}}}={modules[path].variable};\n"
        for path, names in module.imports.items()
        if names
    )
    exports = ",".join(module.exports)
    return f"const {module.variable}=(()=>{{\n{names}{body}\nreturn{{{exports}}};}})();\n"


def _joined(importer: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), path))


def _relative(importer: str, path: str) -> str:
    found = posixpath.relpath(path, posixpath.dirname(importer) or ".")
    return found if found.startswith(".") else f"./{found}"
