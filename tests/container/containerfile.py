"""Reader of Containerfiles: stages, instructions, and the files of the build context."""

import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.paths import ROOT

CONTAINERFILE = ROOT / "Containerfile"
IGNORE_FILE = ROOT / ".containerignore"


@dataclass(frozen=True, slots=True)
class Instruction:
    name: str  # upper case
    text: str

    def words(self) -> list[str]:
        """Return the words of the exec form (JSON), or of the shell form without quotes."""
        if self.text.startswith("["):
            words: list[str] = json.loads(self.text)
            return words
        return self.text.split()


@dataclass(slots=True)
class Stage:
    base: str
    name: str
    instructions: list[Instruction] = field(default_factory=list)

    def last(self, name: str) -> Instruction:
        return next(each for each in reversed(self.instructions) if each.name == name)


def parse(text: str) -> list[Stage]:
    """Return the stages in order, without comments and with continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    stages: list[Stage] = []
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        name, _, rest = line.strip().partition(" ")
        if name == "FROM":
            base, _, alias = rest.partition(" AS ")
            stages.append(Stage(base.strip(), alias.strip()))
        elif name:
            stages[-1].instructions.append(Instruction(name.upper(), rest.strip()))
    return stages


def context_files(root: Path, ignored: Sequence[str]) -> list[str]:
    """List the files of the checkout that `COPY . .` copies."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    paths = [path for path in listed.split("\0") if path and (root / path).is_file()]
    return [path for path in paths if not is_ignored(path, ignored)]


def ignore_patterns(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def is_ignored(path: str, patterns: Iterable[str]) -> bool:
    """Return whether the last pattern that matches the path or a parent folder ignores it."""
    parts = path.split("/")
    above = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    ignored = False
    for pattern in patterns:
        matcher = re.compile(_expression(pattern.removeprefix("!")))
        if any(matcher.fullmatch(each) for each in above):
            ignored = not pattern.startswith("!")
    return ignored


def _expression(pattern: str) -> str:
    pieces = re.split(r"(\*\*/|\*)", pattern)
    meaning = {"**/": "(?:.*/)?", "*": "[^/]*"}
    return "".join(meaning.get(piece, re.escape(piece)) for piece in pieces)
