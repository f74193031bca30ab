"""HTTP connections with a deadline and a size limit for the head of each request.

uvicorn waits for the end of a request's head without a deadline: thousands of connections that each
send half a head would use up all file descriptors. uvicorn closes idle connections between two
requests (`timeout_keep_alive`), but only until the first byte of the next head.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

HEAD_SECONDS = 15.0
HEAD_BYTES = 64 * 2**10


class BoundedHttpProtocol(HttpToolsProtocol):
    """HTTP protocol that closes connections whose request head is late or too long (431)."""

    _deadline: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and self._is_idle():
            self._await_head()
        if self._deadline is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._deadline is not None and self._head_bytes > HEAD_BYTES:
            self._refuse_head()

    def on_headers_complete(self) -> None:
        self._head_is_here()
        super().on_headers_complete()

    def _is_idle(self) -> bool:
        """Return True between two requests, when the next bytes are the head of the second."""
        return self.cycle is None or self.cycle.response_complete

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._close_late_head)

    def _head_is_here(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_late_head(self) -> None:
        """Close the connection without a response: no request was received."""
        self._deadline = None
        self.transport.close()

    def _refuse_head(self) -> None:
        self._head_is_here()
        text = f"Request header too large: the limit is {HEAD_BYTES:,} bytes.\n".encode()
        head = [
            STATUS_LINE[431],
            b"content-type: text/plain; charset=utf-8\r\n",
            b"content-length: %d\r\n" % len(text),
            b"connection: close\r\n\r\n",
        ]
        self.transport.write(b"".join([*head, text]))
        self.transport.close()
