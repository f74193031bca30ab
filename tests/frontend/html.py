"""HTML of responses without the line breaks of its templates."""

import re
from typing import Protocol


class Response(Protocol):
    """Response of Django's test client."""

    @property
    def content(self) -> bytes: ...


def render_html(response: Response) -> str:
    """Return the HTML in one line, without whitespace beside tags that contains a line break."""
    html = response.content.decode()
    html = re.sub(r"(?<=>)\s*\n\s*|\s*\n\s*(?=<)", "", html)
    return re.sub(r"\s*\n\s*", " ", html).strip()
