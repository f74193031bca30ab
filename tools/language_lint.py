"""Check that names and sentences use the terms of the glossary.

`python -m tools.language_lint` reports

- identifiers and phrases of `coined_terms.toml`, with the term to use instead,
- docstrings, doc comments and headings that open with a question word or a fragment of a sentence,
- names in Python that are no noun for a value or no verb for a function (`grammar_lint.py`),
- template lines over 160 characters,
- two classes of one name in the server or in the agent.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from itertools import chain
from pathlib import Path

from tools import grammar_lint

ROOT = Path(__file__).parent.parent
TERMS = Path(__file__).parent / "coined_terms.toml"
LONGEST_TEMPLATE_LINE = 160

_CACHES = {".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"}
_SKIPPED_FOLDERS = _CACHES | {
    ".git",
    ".venv",
    ".stamps",
    "node_modules",
    "vendor",
    "bundles",  # minified
    "build",
    "dist",
    "data",
    "fuzz-findings",
    "test-results",
    "__pycache__",
    "samples",
}
# The list itself, its test and the page with the list of older names contain every coined term.
_SKIPPED_FILES = {
    "tools/coined_terms.toml",
    "tests/tools/test_language_lint.py",
    "docs/glossary.md",
    "package-lock.json",
}
_PYTHON, _CYTHON = {".py", ".pyi"}, {".pyx", ".pxd", ".pxi"}
_CURLY = {".js", ".c", ".h"}
_PROSE_AND_DATA = {".html", ".md", ".css", ".toml", ".yaml", ".yml", ".sh", ".lua", ".txt"}
_TEXT = _PYTHON | _CYTHON | _CURLY | _PROSE_AND_DATA

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_PYTHON_PROSE = re.compile(r"(\"{3}|'{3}).*?\1|#[^\n]*|" + _STRING, re.DOTALL)
_CURLY_PROSE = re.compile(r"/\*.*?\*/|//[^\n]*|" + _STRING, re.DOTALL)
_TEMPLATE_CODE = re.compile(r"\{\{.*?\}\}|\{%(?!\s*(?:block)?trans(?:late)?\b).*?%\}", re.DOTALL)
_TEMPLATE_STRING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")

_FRAGMENT = r"(?:What|Who|Whom|Whose|How|Which|Whether|Where|Of|As|So|Those|Again)\b"
_OPENS_BADLY = re.compile(_FRAGMENT)
_BAD_COMMENT = {
    ".js": re.compile(r"^\s*/\*\*\s+" + _FRAGMENT),
    ".c": re.compile(r"^\s*/\*+\s+" + _FRAGMENT),
    ".md": re.compile(r"^#+ " + _FRAGMENT),
}
_BAD_COMMENT[".h"] = _BAD_COMMENT[".c"]
_BAD_DOCSTRING = re.compile(r'^\s*"""' + _FRAGMENT)

_Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Complaint:
    """One finding at a line of a file."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@dataclass(frozen=True, slots=True)
class AllowedName:
    """Term or name that has to stay in some files, with the reason."""

    term: str
    paths: tuple[str, ...]  # glob patterns
    reason: str


@dataclass(frozen=True, slots=True)
class Terms:
    """Coined terms with their replacements.

    `names` are whole identifiers, `parts` are words that no identifier may contain, `phrases` are
    regular expressions for any text. All ignore case; leading underscores of names are ignored.
    `classes` are the names that several classes may have, with the reason. `grammar` are names that
    break the grammar in some files.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    phrases: Mapping[str, str] = field(default_factory=dict)
    allowed: tuple[AllowedName, ...] = ()
    classes: Mapping[str, str] = field(default_factory=dict)
    grammar: tuple[AllowedName, ...] = ()

    def is_allowed(self, term: str, path: str) -> bool:
        return any(
            entry.term == term and any(fnmatch(path, pattern) for pattern in entry.paths)
            for entry in self.allowed + self.grammar
        )


def read_terms(path: Path = TERMS) -> Terms:
    """Read the list. Raise `ValueError` if an exception has no reason or names an unlisted term."""
    content = tomllib.loads(path.read_text())
    allowed, grammar = (
        tuple(
            AllowedName(entry["term"], tuple(entry["paths"]), entry["reason"])
            for entry in content.get(kind, [])
        )
        for kind in ("allowed", "grammar")
    )
    terms = Terms(
        content["names"],
        content["parts"],
        content["phrases"],
        allowed,
        content["classes"],
        grammar,
    )
    listed = {*terms.names, *terms.parts, *terms.phrases}
    faulty = [entry.term for entry in allowed if entry.term not in listed]
    faulty += [entry.term for entry in allowed + grammar if not entry.reason]
    if faulty:
        raise ValueError(f"{path.name}: exceptions without a reason or a listed term: {faulty}")
    return terms


def find_coined_terms(path: str, text: str, terms: Terms) -> Iterator[tuple[str, Complaint]]:
    """Yield the coined terms of a file with their complaints, whether they are allowed or not."""
    suffix = Path(path).suffix
    for line, name in _identifiers(suffix, text):
        bare = name.strip("_").lower()
        if bare in terms.names:
            yield bare, Complaint(path, line, f"{name}: use {terms.names[bare]}")
        for part in _parts(name) & terms.parts.keys():
            yield part, Complaint(path, line, f"{name}: use {terms.parts[part]} instead of {part}")
    for phrase, replacement in terms.phrases.items():
        for match in re.finditer(phrase, text, re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            yield phrase, Complaint(path, line, f"“{match[0]}”: use {replacement}")


def find_bad_openings(path: str, text: str) -> Iterator[Complaint]:
    """Find docstrings, doc comments and headings that open with a question word or a fragment."""
    suffix = Path(path).suffix
    if suffix in _PYTHON:
        for line, first_line in _docstrings(text):
            if _OPENS_BADLY.match(first_line):
                yield Complaint(path, line, f"docstring opens as a fragment: {first_line}")
        return
    pattern = _BAD_DOCSTRING if suffix in _CYTHON else _BAD_COMMENT.get(suffix)
    for number, line_text in enumerate(text.splitlines(), 1):
        if pattern and pattern.match(line_text):
            yield Complaint(path, number, f"opens as a fragment: {line_text.strip()}")


def find_bad_names(path: str, text: str) -> Iterator[tuple[str, Complaint]]:
    """Yield names that break the grammar, with their complaints; tests may break it."""
    folders = Path(path).parts[:-1]
    is_ours = path.endswith(".py") and "_pb2" not in path
    if not is_ours or folders[:1] == ("benchmarks",) or {"tests", "migrations"} & {*folders}:
        return
    for line, name, complaint in grammar_lint.find_complaints(ast.parse(text)):
        yield name, Complaint(path, line, complaint)


def find_long_lines(path: str, text: str) -> Iterator[Complaint]:
    """Find template lines over the limit."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LONGEST_TEMPLATE_LINE:
            yield Complaint(path, number, f"{len(line)} characters; {LONGEST_TEMPLATE_LINE} fit")


def find_repeated_classes(
    texts: Mapping[str, str], exceptions: Collection[str] = ()
) -> Iterator[Complaint]:
    """Find classes of one name in the Python files of one distribution."""
    definitions: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for path, text in texts.items():
        for node in _scopes(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and node.name not in exceptions:
                definitions[node.name].append((path, node.lineno))
    for name, (first, *others) in definitions.items():
        for path, line in others:
            text = f"class {name} exists at {first[0]}:{first[1]} too: one name, one concept"
            yield Complaint(path, line, text)


def check(texts: Mapping[str, str], terms: Terms) -> list[Complaint]:
    """Return all complaints about files, given as their texts by path."""
    complaints: list[Complaint] = []
    used: set[tuple[str, str]] = set()
    for path, text in texts.items():
        for term, complaint in chain(
            find_coined_terms(path, text, terms), find_bad_names(path, text)
        ):
            if terms.is_allowed(term, path):
                used.add((term, path))
            else:
                complaints.append(complaint)
        complaints += find_bad_openings(path, text)
        if path.endswith(".html"):
            complaints += find_long_lines(path, text)
    python = {path: text for path, text in texts.items() if path.endswith(".py")}
    agent = {path: text for path, text in python.items() if path.startswith("agents/")}
    server = {path: text for path, text in python.items() if path not in agent}
    complaints += [*find_repeated_classes(agent, terms.classes)]
    complaints += [*find_repeated_classes(server, terms.classes)]
    for entry in terms.allowed + terms.grammar:
        for pattern in entry.paths:
            if not any(entry.term == term and fnmatch(path, pattern) for term, path in used):
                text = f"the exception for {entry.term} in {pattern} is not needed any more"
                complaints.append(Complaint("tools/coined_terms.toml", 1, text))
    return sorted(complaints, key=lambda complaint: (complaint.path, complaint.line))


def project_texts(root: Path = ROOT) -> dict[str, str]:
    """Read the text files of the project, by their path from its root."""
    paths = (path for path in _walk(root) if path.suffix in _TEXT or path.name == "Makefile")
    texts = {path.relative_to(root).as_posix(): path.read_text() for path in sorted(paths)}
    return {path: text for path, text in texts.items() if path not in _SKIPPED_FILES}


def main() -> int:
    complaints = check(project_texts(), read_terms())
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return 1 if complaints else 0


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name not in _SKIPPED_FOLDERS and not path.name.endswith(".egg-info"):
                yield from _walk(path)
        else:
            yield path


def _identifiers(suffix: str, text: str) -> Iterable[tuple[int, str]]:
    """Yield the identifiers of a source file with their lines, without strings and comments."""
    if suffix in _PYTHON | _CYTHON:
        return _matches(_blank(_PYTHON_PROSE, text))
    if suffix in _CURLY:
        return _matches(_blank(_CURLY_PROSE, text))
    if suffix == ".html":
        code = ((match.start(), match[0]) for match in _TEMPLATE_CODE.finditer(text))
        return (
            (text.count("\n", 0, start) + line, name)
            for start, tag in code
            for line, name in _matches(_blank(_TEMPLATE_STRING, tag))
        )
    return ()


@cache
def _parts(name: str) -> frozenset[str]:
    return frozenset(part.lower() for part in _PART.findall(name))


def _matches(code: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(code.splitlines(), 1):
        for name in _IDENTIFIER.findall(line):
            yield number, name


def _blank(prose: re.Pattern[str], text: str) -> str:
    """Remove what the pattern matches, but keep its line breaks."""
    return prose.sub(lambda match: "\n" * match[0].count("\n") + " ", text)


def _docstrings(text: str) -> Iterator[tuple[int, str]]:
    for node in _scopes(ast.parse(text)):
        docstring = ast.get_docstring(node)
        if docstring:
            yield node.body[0].lineno, docstring.splitlines()[0]


def _scopes(tree: ast.Module) -> Iterator[_Scope]:
    """Yield the module, and all of its classes and functions."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, _Scope):
            yield node
        if not isinstance(node, ast.expr):  # the bodies of lambdas have no docstrings
            pending += ast.iter_child_nodes(node)


if __name__ == "__main__":
    sys.exit(main())
