"""Template loader that drops the indentation of templates from pages."""

import re
from pathlib import Path

from django.template import Origin
from django.template.loaders import app_directories

_FRONTEND = Path(__file__).resolve().parents[1]
_INDENTATION = re.compile(r"\s*\n\s*")
# Such a tag follows a line break, so what comes after it needs none.
_AFTER_TAG = re.compile(
    r"""^(\{%\s*(?:load|extends|block|endblock|endcomment|if|elif|else|endif|for|empty|endfor|with
    |endwith)\b(?:(?!%\}).)*%\})\n""",
    re.VERBOSE | re.MULTILINE,
)

# Whitespace between the rows and cells of a table is never shown.
_IN_TABLE = re.compile(r"(</td>|</th>|<tr>|</tr>)\n")


class Loader(app_directories.Loader):
    """Load templates of installed apps, those of this app without indentation.

    Indented templates are for their readers; a list of 50 rows would send 25 kB of spaces. Line
    breaks between elements remain, so that words stay apart.
    """

    def get_contents(self, origin: Origin) -> str:
        contents = super().get_contents(origin)
        path = Path(origin.name)
        if path.suffix == ".html" and path.is_relative_to(_FRONTEND):
            return compact(contents)
        return contents


def compact(template: str) -> str:
    """Replace each run of whitespace that has a line break with one line break, or with nothing."""
    lines = _INDENTATION.sub("\n", template.lstrip())
    return _IN_TABLE.sub(r"\1", _AFTER_TAG.sub(r"\1", lines))
