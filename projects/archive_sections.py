"""Parts of the description of a project in the archive of its export.

An app that stores something about projects registers a function that returns it, by listed fields:
never a key, a hash or a secret.
"""

from collections.abc import Callable
from typing import Any

from projects.models import Project

SectionReader = Callable[[Project], object]
_sections: dict[str, SectionReader] = {}


def register_section(name: str, reader: SectionReader) -> None:
    """Add a field to project.json: what `reader` returns for a project."""
    _sections[name] = reader


def read_sections(project: Project) -> dict[str, Any]:
    return {name: reader(project) for name, reader in _sections.items()}
