"""Plain-text responses of the process itself, such as health and metrics, sent without Django."""

from asgiref.typing import ASGISendCallable, HTTPResponseBodyEvent, HTTPResponseStartEvent

PLAIN_TEXT_TYPE = "text/plain; charset=utf-8"


async def send_text(
    send: ASGISendCallable, status: int, text: str, content_type: str = PLAIN_TEXT_TYPE
) -> None:
    """Send a complete response that must not be cached."""
    body = text.encode()
    headers = [
        (b"content-type", content_type.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    await send(
        HTTPResponseStartEvent(
            type="http.response.start", status=status, headers=headers, trailers=False
        )
    )
    await send(HTTPResponseBodyEvent(type="http.response.body", body=body, more_body=False))
