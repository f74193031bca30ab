"""Where a line of code is to be read: by the address that a project's owners give as a pattern."""

import string
from urllib.parse import quote, urlsplit

from django.utils.translation import gettext as _

NAMES = ("file", "line", "version")


class InvalidLinkTemplate(ValueError):
    """The pattern of a repository's addresses cannot be used; the text says why."""


def check_pattern(pattern: str) -> None:
    """`https://host/repository/blob/{version}/{file}#L{line}`; BadPattern for anything else."""
    parts = urlsplit(pattern)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidLinkTemplate(_("An address begins with https:// and a host."))
    try:
        fields = [field for field in string.Formatter().parse(pattern) if field[1] is not None]
    except ValueError as error:
        raise InvalidLinkTemplate(_("Braces stand around file, line and version alone.")) from error
    # Neither a width, which could be endless, nor a part of a value.
    plain = all(name in NAMES and not spec and not turned for _t, name, spec, turned in fields)
    if not plain or not any(name == "file" for _t, name, _s, _c in fields):
        raise InvalidLinkTemplate(
            _("It needs {file}, and may have {line} and {version}; nothing else.")
        )


def source_link(pattern: str, prefix: str, file: str, line: int, version: str) -> str:
    """The address of a line; "" where there is no pattern, no file, or the file is not below
    `prefix`, the folder of the code where the programs run."""
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
