"""Neutralise invisible characters of names in pages.

Names of functions, services, versions, labels and so on come from outside. Control characters
can hide parts of them, and bidirectional ones (U+202E and the like) reorder the text around them.
The browser's scripts do the same for the names that they show (text.js).
"""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

REPLACEMENT = "\ufffd"

# In UTF-8: C0 controls except tab and line breaks, DEL, C1 controls, U+061C, U+200B-200F,
# U+2028-202E, U+2060-2069, U+FEFF.
_UNSEEN = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c"
    rb"|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xa9]|\xef\xbb\xbf"
)
# Django escapes > in attributes, so a tag ends at the first one. The text of a <textarea> is the
# value of a form, and that of a <script> is data.
_TAG = re.compile(rb"<(textarea|script)\b.*?</\1>|<[^>]*>", re.DOTALL)
# Attributes that browsers show or read aloud; others, such as data-name, keep the exact name.
_SHOWN = re.compile(rb'(?<=\s)(?:aria-label|aria-description|title|placeholder|alt|label)="[^"]*"')


class ControlCharacterMiddleware:
    """Replace control and bidirectional characters in the visible text of HTML responses.

    Replaced are text and attributes that are shown; the values of forms, links and data attributes
    stay exact, because requests name functions, versions and labels by them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        is_html = response.get("Content-Type", "").startswith("text/html")
        if is_html and isinstance(response, StreamingHttpResponse):
            # Each part of a streamed page has whole tags.
            response.streaming_content = map(visible, response)
        elif is_html and _UNSEEN.search(response.content):
            response.content = visible(response.content)
            if response.has_header("Content-Length"):
                response["Content-Length"] = str(len(response.content))
        return response


def visible(html: bytes) -> bytes:
    """Return UTF-8 HTML with U+FFFD for each invisible character that it would show."""
    if not _UNSEEN.search(html):
        return html
    parts, after = [], 0
    for tag in _TAG.finditer(html):
        parts += [_replace_unseen(html[after : tag.start()]), _SHOWN.sub(_attribute, tag.group())]
        after = tag.end()
    return b"".join([*parts, _replace_unseen(html[after:])])


def _attribute(found: re.Match[bytes]) -> bytes:
    return _replace_unseen(found.group())


def _replace_unseen(text: bytes) -> bytes:
    return _UNSEEN.sub(REPLACEMENT.encode(), text)
