"""Templates of links to source code: in the project's repository, and in the user's editor.

Project owners and users configure them; pages fill them in.
"""

import re
import string
from collections.abc import Sequence
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

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
