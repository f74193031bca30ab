"""The agent's distributions, as files in AGENT_FILES_DIR; anything else there is not served."""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings

# Names of an sdist or a wheel; what matches names a file in the folder itself, never a path.
_SERVED = re.compile(r"flamewatch_agent-[0-9A-Za-z_.+-]{1,200}\.(?:whl|tar\.gz)")


@dataclass(frozen=True, slots=True)
class AgentFile:
    name: str
    path: Path
    sha256: str  # hexadecimal

    @property
    def is_wheel(self) -> bool:
        return self.name.endswith(".whl")


def agent_files() -> list[AgentFile]:
    """What is served, by name."""
    folder = Path(settings.AGENT_FILES_DIR)
    if not folder.is_dir():
        return []
    found = (agent_file(path.name) for path in sorted(folder.iterdir()))
    return [file for file in found if file]


def agent_file(name: str) -> AgentFile | None:
    """The file of that name; None where it is none of the agent's, or is not there."""
    if not _SERVED.fullmatch(name):
        return None
    path = Path(settings.AGENT_FILES_DIR) / name
    if not path.is_file():
        return None
    stat = path.stat()
    return AgentFile(name, path, _hash(path, stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=64)
def _hash(path: Path, modified: int, size: int) -> str:
    """Hashed once for each state of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
