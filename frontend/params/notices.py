"""Notices of a page about parameters that it could not read."""

from django.utils.translation import gettext as _

from endpoints.params.parameter import Parameter
from endpoints.params.reader import Issue, LenientReader
from endpoints.params.selection import StartNotBeforeEnd
from profiles.query import BadFilterPattern


class Notice(ValueError):
    """Invalid value; the text is the page's own sentence about it."""


def list_notices(reader: LenientReader) -> tuple[str, ...]:
    """Return a sentence for each invalid value."""
    return tuple(_describe_left_out(issue) for issue in reader.issues)


def list_replacement_notices(reader: LenientReader) -> list[str]:
    """Return a sentence for each invalid value, which names the default that replaces it."""
    return [_replace_text(issue) for issue in reader.issues]


def _describe_left_out(issue: Issue) -> str:
    if isinstance(issue.error, (BadFilterPattern, Notice)):
        return str(issue.error)
    if isinstance(issue.error, StartNotBeforeEnd):
        return _("A range has to start before it ends. Showing the default length instead.")
    sentence = _("“%(name)s=%(value)s” in the address could not be read and was left out.")
    return sentence % {"name": issue.parameter.name, "value": issue.text[:60]}


def _replace_text(issue: Issue) -> str:
    default = issue.parameter.default if isinstance(issue.parameter, Parameter) else None
    if default is None:
        return _describe_left_out(issue)
    return _("%(name)s=%(value)s could not be read; showing %(instead)s instead.") % {
        "name": issue.parameter.name,
        "value": issue.text[:40],
        "instead": default,
    }
