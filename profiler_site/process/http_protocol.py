"""HTTP connections with a deadline and a size limit for the head of each request.

uvicorn waits for the end of a request's head without a deadline: thousands of connections that each
send half a head would use up all file descriptors. uvicorn closes idle connections between two
requests (`timeout_keep_alive`), but only until the first byte of the next head.

Connections above a limit are restricted: they may only ask for the process's health, soon. Without
descriptors left, the event loop would reset every new connection, those of health checks too.
"""

import asyncio
import fcntl
import struct
import termios
from collections.abc import Hashable
from typing import NamedTuple

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from common.asgi import AUTHENTICATED
from common.client_address import LOOPBACK
from common.request_body import WINDOW_BYTES, WINDOW_SECONDS
from endpoints.error_responses import unavailable
from profiler_site.process import file_limit
from profiler_site.process.connection_limits import ConnectionLimits, get_counted_address
from profiler_site.process.unsent_responses import UnsentResponses
from projects.usage import rejections
from projects.usage.rejections import RejectionReason

HEAD_SECONDS = 15.0
HEAD_BYTES = 64 * 2**10
RESTRICTED_HEAD_SECONDS = 2.0
# Time for a rejected client to send the rest of its body: it loses a response that it has not read
# when the connection is closed before.
REJECTED_BODY_SECONDS = 1.0
# Time in which a client has to receive WINDOW_BYTES of a response, or the rest of it.
RECEIVE_SECONDS = WINDOW_SECONDS
HEALTH_PATHS = frozenset({b"/ok", b"/ready"})
_C_INT = struct.Struct("i")


class Restriction(NamedTuple):
    """Limit that a connection exceeds."""

    reason: RejectionReason
    text: str


class BoundedHttpProtocol(HttpToolsProtocol):
    """HTTP protocol that closes connections whose request head is late or too long (431).

    It aborts those that do not read their response. Restricted connections get 503.
    """

    _deadline: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _counted_address = ""  # while the client has not authenticated
    _tenant: Hashable = ""  # the client of the current request: project, user or address
    _receive_deadline: asyncio.TimerHandle | None = None
    _restriction: Restriction | None = None
    _is_rejected = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._restriction = self._find_exceeded_limit()
        if self._restriction:
            # Half of the reserve: the other half is for the files that a health check opens.
            connections.restrict(self.transport, file_limit.reserve(settings.RESERVED_FILES) // 2)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        self._end_count()
        connections.unrestrict(self.transport)
        self._response_is_sent()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_rejected:
            return
        if self._deadline is None and self._is_idle():
            self._await_head()
        if self._deadline is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._deadline is not None and self._head_bytes > HEAD_BYTES:
            self._reject_head()

    def note_authenticated(self, tenant: Hashable) -> None:
        """Count the connection as one of this tenant, not of a client without a key or session."""
        self._tenant = tenant
        self._end_count()

    def _end_count(self) -> None:
        if self._counted_address:
            connections.uncount(self._counted_address)
            self._counted_address = ""

    def _find_exceeded_limit(self) -> Restriction | None:
        """Count the new connection; return the limit that it exceeds, None for most."""
        descriptor = self.transport.get_extra_info("socket").fileno()
        if file_limit.is_reserved(descriptor, settings.RESERVED_FILES):
            return Restriction(
                RejectionReason.OPEN_FILES,
                "The server has as many open connections as its limit of open files allows. "
                "Try again later; the operator can raise the limit.",
            )
        # Connections of a proxy belong to many clients.
        exempt = (*LOOPBACK, *settings.TRUSTED_PROXIES)
        address = get_counted_address(self.client[0], exempt) if self.client else ""
        allowed = settings.MAX_UNAUTHENTICATED_CONNECTIONS
        if address and not connections.count(address, allowed):
            return Restriction(
                RejectionReason.CONNECTIONS_PER_ADDRESS,
                f"FLAMEWATCH_MAX_UNAUTHENTICATED_CONNECTIONS allows {allowed:,} connections of one "
                f"address without a valid key or session; {address} has as many. Close some, or "
                f"try again later.",
            )
        self._counted_address = address
        return None

    # -- callbacks of the parser ----------------------------------------------------------

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._is_idle():  # unless the client sends requests ahead, which are all its own
            self._tenant = ("address", self.client[0] if self.client else "")
        self.scope["state"][AUTHENTICATED] = self.note_authenticated

    def on_headers_complete(self) -> None:
        self._head_is_here()
        if self._is_rejected:
            return
        if self._restriction and self.url.partition(b"?")[0] not in HEALTH_PATHS:
            self._reject(self._restriction)
            return
        super().on_headers_complete()
        if self._restriction:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        if not self._is_rejected:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self._is_rejected:
            self.transport.close()
        else:
            super().on_message_complete()

    # -- unsent bytes of responses --------------------------------------------------------

    def pause_writing(self) -> None:
        super().pause_writing()
        size = self.transport.get_write_buffer_size() + self._rest_of_response()
        unsent.add(self.transport, self._tenant, size)
        self._await_receiver(self._unread_bytes())

    def resume_writing(self) -> None:
        super().resume_writing()
        self._response_is_sent()

    def _await_receiver(self, size: int) -> None:
        self._receive_deadline = self.loop.call_later(RECEIVE_SECONDS, self._check_receiver, size)

    def _check_receiver(self, before: int) -> None:
        """Abort the connection if the client has received too few of the bytes `before`."""
        size = self._unread_bytes()
        if before - size >= WINDOW_BYTES:
            self._await_receiver(size)
        else:
            unsent.abort(self.transport)

    def _rest_of_response(self) -> int:
        """Return the bytes that the application has not sent yet: Django sends 64 KiB at a time."""
        is_open = self.cycle is not None and not self.cycle.response_complete
        return int(self.cycle.expected_content_length) if is_open else 0

    def _unread_bytes(self) -> int:
        """Return the bytes that the client has not received, those in the kernel's buffer included.

        The transport alone shows no progress before the kernel has sent a megabyte.
        """
        descriptor = self.transport.get_extra_info("socket").fileno()
        queued = fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(_C_INT.size))
        return self.transport.get_write_buffer_size() + int(_C_INT.unpack(queued)[0])

    def _response_is_sent(self) -> None:
        unsent.remove(self.transport)
        if self._receive_deadline is not None:
            self._receive_deadline.cancel()
            self._receive_deadline = None

    # -- head of a request ----------------------------------------------------------------

    def _is_idle(self) -> bool:
        """Return True between two requests, when the next bytes are the head of the second."""
        return self.cycle is None or self.cycle.response_complete

    def _await_head(self) -> None:
        self._head_bytes = 0
        seconds = RESTRICTED_HEAD_SECONDS if self._restriction else HEAD_SECONDS
        self._deadline = self.loop.call_later(seconds, self._close_late_head)

    def _head_is_here(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_late_head(self) -> None:
        """Close the connection without a response: no request was received."""
        self._deadline = None
        self.transport.close()

    def _reject_head(self) -> None:
        self._head_is_here()
        text = f"Request header too large: the limit is {HEAD_BYTES:,} bytes.\n"
        self._write_response(431, {"content-type": "text/plain; charset=utf-8"}, text.encode())
        self.transport.close()

    def _reject(self, restriction: Restriction) -> None:
        """Answer with 503, and close the connection after the request or REJECTED_BODY_SECONDS."""
        self._is_rejected = True
        rejections.note(None, restriction.reason)
        response = unavailable(restriction.text)
        self._write_response(response.status, response.headers, response.body)
        self.loop.call_later(REJECTED_BODY_SECONDS, self.transport.close)

    def _write_response(self, status: int, headers: dict[str, str], body: bytes) -> None:
        fields = headers | {"content-length": str(len(body)), "connection": "close"}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.transport.write(b"".join([STATUS_LINE[status], head.encode(), b"\r\n", body]))


connections = ConnectionLimits()
unsent = UnsentResponses()
