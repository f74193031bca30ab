"""Browsers and systems in plain words, from the header User-Agent."""

from django.utils.translation import gettext as _

# The first that is contained wins: Edge and Opera also call themselves Chrome, Chrome Safari.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
    ("curl", "curl"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def describe(user_agent: str) -> str:
    """Return for example "Firefox, Linux", or a sentence for an unknown program."""
    browser = next((name for part, name in _BROWSERS if part in user_agent), "")
    system = next((name for part, name in _SYSTEMS if part in user_agent), "")
    words = ", ".join(name for name in (browser, system) if name)
    return words or _("Unknown browser")
