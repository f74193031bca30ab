"""Configuration of the agent, from arguments first and environment variables second. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args
from urllib.parse import SplitResult, urlsplit

from flamewatch import environment

# The project that the key belongs to.
OWN_PROJECT = "-"

IDLE_WAITS = "FLAMEWATCH_IDLE_WAITS"

# Start of memory counting: with the first memory profile that the server requests, when the agent
# starts, or never.
Heap = Literal["on-request", "start", "off"]

_SERVICE = re.compile(r"[a-z0-9]([-a-z0-9_.]{0,253}[a-z0-9])?")
_PROJECT = re.compile(r"[a-z0-9][-a-z0-9.:]{0,127}|-")
_KEY = re.compile(r"[!-~]{8,4096}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST_LABEL = 512  # bytes
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of `start()`; None for an argument that was not passed."""

    service: str | None = None
    version: str | None = None
    zone: str | None = None
    key: str | None = field(default=None, repr=False)
    url: str | None = None
    project: str | None = None
    thread_names: bool | None = None
    tasks: bool | None = None
    idle_waits: bool | None = None
    heap: str | None = None
    heap_raw: bool | None = None


@dataclass(frozen=True, slots=True)
class Config:
    key: str = field(repr=False)
    url: str  # without a trailing slash
    project: str
    service: str
    version: str
    zone: str
    thread_names: bool = False  # adds a label for each thread, which costs the server storage
    tasks: bool = False  # asyncio: label task names, and show the tasks that await them
    idle_waits: bool = False  # include waits for work in CONTENTION profiles
    heap: Heap = "on-request"
    heap_raw: bool = False  # also count blocks that are allocated without the GIL


@dataclass(frozen=True, slots=True)
class Problems:
    """Configuration errors, each a phrase with the remedy."""

    found: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(self.found)


def read(arguments: Arguments, environ: Mapping[str, str]) -> Config | Problems:
    """Return the configuration, or all of its errors. No message contains the key."""
    heap = _text(arguments.heap, environ.get("FLAMEWATCH_HEAP", "")).lower()
    config = Config(
        key=_text(arguments.key, environ.get("FLAMEWATCH_KEY", "")),
        url=_text(arguments.url, environ.get("FLAMEWATCH_URL", "")).rstrip("/"),
        project=_text(arguments.project, environ.get("FLAMEWATCH_PROJECT", "")) or OWN_PROJECT,
        service=_text(arguments.service, environment.service(environ)),
        version=_text(arguments.version, environment.version(environ)),
        zone=_text(arguments.zone, environment.zone(environ)),
        thread_names=_flag(arguments.thread_names, environ.get("FLAMEWATCH_THREAD_NAMES", "")),
        tasks=_flag(arguments.tasks, environ.get("FLAMEWATCH_TASKS", "")),
        idle_waits=idle_waits(environ, arguments.idle_waits),
        heap=next((choice for choice in get_args(Heap) if choice == heap), "on-request"),
        heap_raw=_flag(arguments.heap_raw, environ.get("FLAMEWATCH_HEAP_RAW", "")),
    )
    checks = (
        _key_problem(config.key),
        _url_problem(config.url),
        _service_problem(config.service),
        _project_problem(config.project),
        _label_problem("version", config.version),
        _label_problem("zone", config.zone),
        _flag_problem("FLAMEWATCH_THREAD_NAMES", environ),
        _flag_problem("FLAMEWATCH_TASKS", environ),
        _flag_problem(IDLE_WAITS, environ),
        _flag_problem("FLAMEWATCH_HEAP_RAW", environ),
        _heap_problem(heap),
    )
    found = tuple(problem for problem in checks if problem)
    return Problems(found) if found else config


def idle_waits(environ: Mapping[str, str], given: bool | None = None) -> bool:
    return _flag(given, environ.get(IDLE_WAITS, ""))


def _text(given: object, fallback: str) -> str:
    return str(fallback if given is None else given).strip()


def _flag(given: bool | None, text: str) -> bool:
    return text.strip().lower() in _TRUE if given is None else bool(given)


def _key_problem(key: str) -> str:
    if not key:
        return "no API key: set FLAMEWATCH_KEY or pass start(key=…)"
    if not _KEY.fullmatch(key):
        return "invalid API key (FLAMEWATCH_KEY or key=): wrong characters or length"
    return ""


def _url_problem(url: str) -> str:
    if not url:
        return "no server address: set FLAMEWATCH_URL or pass start(url=…)"
    try:
        parts = urlsplit(url)
        usable = _is_plain_address(parts) and parts.port != 0
    except ValueError:
        usable = False
    shape = "https://HOST or https://HOST:PORT, optionally with a path"
    return "" if usable else f"invalid server address {_quote(url)}: use {shape}"


def _is_plain_address(parts: SplitResult) -> bool:
    extras = parts.query or parts.fragment or parts.username is not None
    visible = all(32 < ord(letter) < 127 for letter in parts.netloc + parts.path)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and visible and not extras


def _service_problem(service: str) -> str:
    if not service:
        return "no service name: set FLAMEWATCH_SERVICE or pass start(service=…)"
    if _SERVICE.fullmatch(service):
        return ""
    hint = environment.bend(service)
    rule = "use lower-case letters, digits, '-', '_' and '.', at most 255"
    example = f", for example {_quote(hint)}" if hint else ""
    return f"invalid service name {_quote(service)}: {rule}{example}"


def _project_problem(project: str) -> str:
    if _PROJECT.fullmatch(project):
        return ""
    return f"invalid project id {_quote(project)}: omit it, the API key identifies the project"


def _label_problem(name: str, value: str) -> str:
    if _CONTROL.search(value):
        return f"the {name} contains a control character"
    size = len(value.encode("utf-8", "replace"))
    return (
        ""
        if size <= _LONGEST_LABEL
        else f"the {name} has {size} bytes; the limit is {_LONGEST_LABEL}"
    )


def _flag_problem(name: str, environ: Mapping[str, str]) -> str:
    text = environ.get(name, "")
    if text.strip().lower() in (*_TRUE, *_FALSE):
        return ""
    return f"{name} is {_quote(text)}; use 1 or 0"


def _heap_problem(text: str) -> str:
    if text in ("", *get_args(Heap)):
        return ""
    return f"FLAMEWATCH_HEAP (or heap=) is {_quote(text)}; use on-request, start or off"


def _quote(text: str) -> str:
    return repr(text[:80])
