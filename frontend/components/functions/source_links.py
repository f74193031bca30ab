"""Links to source code: in the project's repository, and in the user's editor.

Both are built from templates, which project owners and users configure.
flame-graph/graph/source.js builds the same links in the browser, from templates checked here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from projects.models import Deployment, Project, User
from projects.models.deployment import first_profile
from projects.source_templates import InvalidLinkTemplate, check_editor_pattern, check_pattern


@dataclass(frozen=True, slots=True)
class SourceLinks:
    """Link templates for a page: valid, or "" for no links. `source_links` makes them."""

    source_url: str
    source_root: str  # directory of the code on the machines that run it
    editor_url: str
    version: str
    project: str

    def source(self, file: str, line: int) -> str:
        """Return the URL of a source line, or "" if it has none.

        A line has no URL if there is no template, no file, or the file is not below `source_root`.
        """
        return self._fill(self.source_url, file, line, version=self.version)

    def editor(self, file: str, line: int) -> str:
        """Return the URL that opens a source line in the user's editor, or "" as `source`."""
        return self._fill(self.editor_url, file, line, project=self.project)

    def _fill(self, template: str, file: str, line: int, **others: str) -> str:
        # Addresses without symbols have a build id instead of a file.
        if not file.startswith(self.source_root) or file.startswith("[build-id "):
            return ""
        path = file.removeprefix(self.source_root).lstrip("/")
        # Profiles name files: none may lead out of the directory that the template names.
        if not path or ".." in path.split("/"):
            return ""
        encoded = quote(path, safe="/", errors="replace")
        values = {name: quote(value, safe="") for name, value in others.items()}
        return template.format(file=encoded, path=encoded, line=max(line, 1), **values)


def source_links(project: Project, user: User, version: str) -> SourceLinks:
    return SourceLinks(
        source_url=_valid(project.source_url, check_pattern),
        source_root=project.source_root,
        editor_url=_valid(user.editor_url, check_editor_pattern),
        version=version,
        project=project.project_id,
    )


def source_version(project: Project, versions: Sequence[str], service: str) -> str:
    """Return the only selected version, otherwise the one whose first profile is the latest.

    Return "" if the project's template does not use it.
    """
    if "{version}" not in project.source_url:
        return ""
    if len(versions) == 1:
        return versions[0]
    deployments = Deployment.objects.filter(project=project, service=service)
    newest = deployments.exclude(version="").order_by(first_profile().desc(), "-pk")
    return newest.values_list("version", flat=True).first() or ""


def _valid(pattern: str, check: Callable[[str], None]) -> str:
    try:
        check(pattern)
    except InvalidLinkTemplate:
        return ""
    return pattern
