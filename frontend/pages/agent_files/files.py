"""Agent distributions and their build requirements, served from AGENT_FILES_DIR."""

import hashlib
import logging
import re
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from email.parser import HeaderParser
from functools import lru_cache
from pathlib import Path

from django.conf import settings

_log = logging.getLogger(__name__)
AGENT = "flamewatch-agent"
# pip needs setuptools to build the agent's sdist without an index.
PROJECTS = (AGENT, "setuptools")
# Names of sdists and wheels; a match is a file in the directory itself, never a path.
_SERVED = re.compile(
    r"(?P<project>flamewatch_agent|setuptools)-[0-9A-Za-z_.+-]{1,200}\.(?:whl|tar\.gz)"
)
_UNREADABLE = (
    OSError,
    EOFError,
    KeyError,
    StopIteration,
    zlib.error,
    zipfile.BadZipFile,
    tarfile.TarError,
)
_METADATA_BYTES = 64 * 2**10  # upper limit; the headers of any distribution are shorter
_DIGITS_IN_PATH = 16  # of the hash: 64 bits distinguish builds with the same file name


@dataclass(frozen=True, slots=True)
class AgentFile:
    name: str
    path: Path
    sha256: str  # hexadecimal
    requires_python: str = ""  # such as ">=3.11"; empty if the metadata does not say

    @property
    def is_wheel(self) -> bool:
        return self.name.endswith(".whl")

    @property
    def project(self) -> str:
        """Return the normalized name of the project that the file distributes."""
        return self.name.partition("-")[0].replace("_", "-")

    @property
    def digest(self) -> str:
        """Return the part of the file's URL that changes with every build."""
        return self.sha256[:_DIGITS_IN_PATH]


def agent_files(project: str = "") -> list[AgentFile]:
    """List the served files by name, for one project or for all."""
    folder = Path(settings.AGENT_FILES_DIR)
    if not folder.is_dir():
        return []
    found = (agent_file(path.name) for path in sorted(folder.iterdir()))
    return [file for file in found if file and project in ("", file.project)]


def agent_file(name: str) -> AgentFile | None:
    """Return the file with that name; None if it is not served or does not exist."""
    if not _SERVED.fullmatch(name):
        return None
    path = Path(settings.AGENT_FILES_DIR) / name
    if not path.is_file():
        return None
    stat = path.stat()
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _read(path: Path, modified: int, size: int) -> AgentFile:
    """Read a file; cached until its modification time or size changes."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return AgentFile(path.name, path, digest, _requires_python(path))


def _requires_python(path: Path) -> str:
    try:
        metadata = _wheel_metadata(path) if path.suffix == ".whl" else _sdist_metadata(path)
    except _UNREADABLE as error:
        _log.warning(
            "%s is not a readable Python distribution (%r); rebuild it with make install.",
            path,
            error,
        )
        return ""
    return HeaderParser().parsestr(metadata.decode(errors="replace")).get("Requires-Python", "")


def _wheel_metadata(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        with archive.open(name) as metadata:
            return metadata.read(_METADATA_BYTES)


def _sdist_metadata(path: Path) -> bytes:
    with tarfile.open(path, "r:gz") as archive:
        metadata = archive.extractfile(f"{path.name.removesuffix('.tar.gz')}/PKG-INFO")
        return metadata.read(_METADATA_BYTES) if metadata else b""
