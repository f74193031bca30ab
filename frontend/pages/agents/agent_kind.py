"""Language and version of an agent, parsed from its User-Agent header.

`flamewatch-python/1.0.2` is Python 1.0.2.
"""

import re

from django.utils.translation import gettext as _

from projects.registration.registry import FILE_IMPORT

_OURS = re.compile(r"flamewatch-(?P<language>[a-z]+)/(?P<version>\S{1,40})")
_GOOGLES = re.compile(r"gcloud-(?P<language>[a-z]+)-profiler(?:/(?P<version>\S{1,40}))?")
_LANGUAGES = {
    "go": "Go",
    "java": "Java",
    "node": "Node.js",
    "nodejs": "Node.js",
    "python": "Python",
    "ruby": "Ruby",
    "dotnet": ".NET",
}
_LONGEST = 60


def agent_kind(user_agent: str, language: str = "") -> str:
    """Return a display name; empty if neither the User-Agent nor `language` is given.

    `language` is the deployment's.
    """
    if found := _OURS.search(user_agent):
        return f"{_language(found['language'])} {found['version']}"
    if found := _GOOGLES.search(user_agent):
        values = {"language": _language(found["language"]), "version": found["version"] or ""}
        return (_("%(language)s, Cloud Profiler %(version)s") % values).rstrip()
    first = user_agent.partition(" ")[0][:_LONGEST]
    spoken = _language(language)[:_LONGEST] if language else ""
    return ", ".join(filter(None, [spoken, first]))


def sender_name(user_agent: str) -> str:
    """Return the program that sent a file, such as `curl/8.5.0`; "" if it was not stated."""
    words = user_agent.removeprefix(FILE_IMPORT).split()
    return words[0][:_LONGEST] if words else ""


def _language(name: str) -> str:
    return _LANGUAGES.get(name.lower(), name)
