"""HTML of responses without the line breaks of its templates."""

import html
import re
from typing import Protocol


class Response(Protocol):
    """Response of Django's test client."""

    @property
    def content(self) -> bytes: ...


def render_html(response: Response) -> str:
    """Return the HTML in one line, without whitespace beside tags that contains a line break."""
    text = response.content.decode()
    text = re.sub(r"(?<=>)\s*\n\s*|\s*\n\s*(?=<)", "", text)
    return re.sub(r"\s*\n\s*", " ", text).strip()


def read_forward(response: Response) -> str:
    """Return the address to which a page forwards at once."""
    page = response.content.decode()
    found = re.search(r'content="0;url=([^"]+)"', page)
    assert found is not None, page
    return html.unescape(found[1])
