"""Links to source code, built from the link template that a project's owners configure."""

import string
from urllib.parse import quote, urlsplit

from django.utils.translation import gettext as _

NAMES = ("file", "line", "version")


class InvalidLinkTemplate(ValueError):
    """A source link template is invalid; the message says why."""


def check_pattern(pattern: str) -> None:
    """Raise `InvalidLinkTemplate` unless the pattern is a valid source link template.

    Example: `https://host/repository/blob/{version}/{file}#L{line}`.
    """
    parts = urlsplit(pattern)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidLinkTemplate(_("The URL must start with https:// and a host."))
    try:
        fields = [field for field in string.Formatter().parse(pattern) if field[1] is not None]
    except ValueError as error:
        raise InvalidLinkTemplate(
            _("Braces are allowed around file, line and version only.")
        ) from error
    # Reject format specs, whose width could be huge, and conversions.
    plain = all(name in NAMES and not spec and not turned for _t, name, spec, turned in fields)
    if not plain or not any(name == "file" for _t, name, _s, _c in fields):
        raise InvalidLinkTemplate(
            _("The template must contain {file}; {line} and {version} are optional.")
        )


def source_link(pattern: str, prefix: str, file: str, line: int, version: str) -> str:
    """Return the URL of a source line, or "" if it has none.

    A line has no URL if there is no pattern, no file, or the file is not below `prefix`, the
    directory of the code on the machines that run it.
    """
    if not pattern or not file or not file.startswith(prefix):
        return ""
    try:
        check_pattern(pattern)
    except InvalidLinkTemplate:
        return ""
    return _filled(pattern, file.removeprefix(prefix).lstrip("/"), line, version)


def _filled(pattern: str, file: str, line: int, version: str) -> str:
    return pattern.format(
        file=quote(file, safe="/"), line=max(line, 1), version=quote(version, safe="")
    )
