"""Packages of the Go, Node.js and Java agents in AGENT_FILES_DIR."""

import re
from pathlib import Path

from django.conf import settings

GO_MODULE = "flamewatch.dev/agent"
_GO = re.compile(r"v\d{1,6}\.\d{1,6}\.\d{1,6}\.(?:info|mod|zip)")
_JAVA = re.compile(r"flamewatch-agent-\d{1,6}\.\d{1,6}\.\d{1,6}\.jar")
_NODE = re.compile(r"flamewatch-agent-\d{1,6}\.\d{1,6}\.\d{1,6}\.tgz")


def go_versions() -> list[str]:
    """List the versions of the Go agent that this server has."""
    return [path.stem.removeprefix("go-") for path in _existing("go-v*.info")]


def node_packages() -> list[str]:
    """List the names of the packages of the Node.js agent, the newest last."""
    return [path.name for path in _existing("flamewatch-agent-*.tgz") if _NODE.fullmatch(path.name)]


def java_packages() -> list[str]:
    """List the names of the jars of the Java agent, the newest last."""
    return [path.name for path in _existing("flamewatch-agent-*.jar") if _JAVA.fullmatch(path.name)]


def go_file(name: str) -> bytes | None:
    """Return a file of the module proxy, such as `v1.0.0.zip`; None if there is none."""
    if name == "list":
        return "".join(f"{version}\n" for version in go_versions()).encode()
    return _content(f"go-{name}") if _GO.fullmatch(name) else None


def java_package(name: str) -> bytes | None:
    return _content(name) if _JAVA.fullmatch(name) else None


def node_package(name: str) -> bytes | None:
    return _content(name) if _NODE.fullmatch(name) else None


def _content(name: str) -> bytes | None:
    path = Path(settings.AGENT_FILES_DIR) / name
    return path.read_bytes() if path.is_file() else None


def _existing(pattern: str) -> list[Path]:
    def numbers(path: Path) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", path.name)]

    return sorted(Path(settings.AGENT_FILES_DIR).glob(pattern), key=numbers)
