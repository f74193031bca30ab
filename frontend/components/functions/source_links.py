"""Links to source code: in the project's repository, and in the user's editor.

Both are built from templates, which project owners and users configure.
flame-graph/graph/source.js builds the same links in the browser, from templates checked here.
"""

import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from django.utils.translation import gettext as _

from projects.models import Deployment, Project, User
from projects.models.deployment import first_profile

NAMES = ("file", "line", "version")
EDITOR_NAMES = ("path", "line", "project")
MAX_PATTERN = 500  # characters

# Schemes that editors register, and the local web servers of some. Everything else is rejected,
# above all javascript: and data:, which would run in the page.
EDITOR_SCHEMES = (
    *("vscode", "vscode-insiders", "vscodium", "cursor", "windsurf", "zed"),
    *("idea", "jetbrains", "pycharm", "goland", "webstorm", "phpstorm", "rubymine", "clion"),
    *("subl", "sublime", "txmt", "mvim", "emacs", "nvim"),
    *("http", "https"),
)
_CONTROL = re.compile(r"[\s\x00-\x20\x7f-\xa0]")


class InvalidLinkTemplate(ValueError):
    """A source link template is invalid; the message says why."""


def check_pattern(pattern: str) -> None:
    """Raise `InvalidLinkTemplate` unless the pattern is a valid source link template.

    Example: `https://host/repository/blob/{version}/{file}#L{line}`.
    """
    parts = urlsplit(pattern)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidLinkTemplate(_("The URL must start with https:// and a host."))
    _check_fields(pattern, NAMES)


def check_editor_pattern(pattern: str) -> None:
    """Raise `InvalidLinkTemplate` unless the pattern is a valid editor link template.

    Example: `vscode://file/home/mara/shop/{path}:{line}`.
    """
    scheme, separator, rest = pattern.partition("://")
    if not separator or scheme not in EDITOR_SCHEMES or _CONTROL.search(pattern):
        sentence = _("The URL must start with one of these schemes and ://: %(schemes)s.")
        raise InvalidLinkTemplate(sentence % {"schemes": ", ".join(EDITOR_SCHEMES)})
    host = rest.partition("/")[0]
    if scheme in {"http", "https"} and (not host or "{" in host):
        raise InvalidLinkTemplate(_("The URL must start with https:// and a host."))
    _check_fields(pattern, EDITOR_NAMES)


def _check_fields(pattern: str, names: Sequence[str]) -> None:
    """Require the first of the names, and allow the others, in braces without conversions."""
    values = {"first": names[0], "second": names[1], "third": names[2]}
    try:
        fields = [field for field in string.Formatter().parse(pattern) if field[1] is not None]
    except ValueError as error:
        sentence = _("Braces are allowed around %(first)s, %(second)s and %(third)s only.")
        raise InvalidLinkTemplate(sentence % values) from error
    # Reject format specs, whose width could be huge, and conversions.
    plain = all(name in names and not spec and not turned for _t, name, spec, turned in fields)
    if not plain or not any(name == names[0] for _t, name, _s, _c in fields):
        sentence = _(
            "The template must contain {%(first)s}; {%(second)s} and {%(third)s} are optional."
        )
        raise InvalidLinkTemplate(sentence % values)


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
