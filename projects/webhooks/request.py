"""One HTTP request to a webhook, bounded in time and in the bytes that are read."""

import http.client
import socket
import ssl
import threading
from dataclasses import dataclass
from urllib.parse import urlsplit

from projects.webhooks.addresses import ForbiddenAddress, check_url, resolve

SECONDS = 10.0  # of the whole request
MAX_REPLY = 16 * 2**10  # bytes that are read
_SHOWN = 300  # characters


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """Response of the receiver, or the reason why there is none."""

    status: int | None = None
    reply: str = ""
    problem: str = ""

    @property
    def is_accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def post(
    url: str, body: bytes, headers: dict[str, str], seconds: float = SECONDS
) -> WebhookResponse:
    """Send a POST request. Redirects are not followed, and no proxy is used. Never raises."""
    try:
        check_url(url)
        return _post(url, body, headers, seconds)
    except ForbiddenAddress as error:
        return WebhookResponse(problem=str(error)[:_SHOWN])
    except ssl.SSLError as error:
        return WebhookResponse(problem=f"TLS failed: {error.reason or error}"[:_SHOWN])
    except (OSError, http.client.HTTPException, ValueError) as error:
        text = str(error) or type(error).__name__
        return WebhookResponse(problem=f"The request failed: {text}"[:_SHOWN])


def _post(url: str, body: bytes, headers: dict[str, str], seconds: float) -> WebhookResponse:
    parts = urlsplit(url)
    host, is_tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if is_tls else 80)
    address = resolve(host, port)[0]
    raw = socket.create_connection((str(address), port), timeout=seconds)
    # Timeouts of sockets are those of single reads: a slow sender would never reach them.
    is_late = threading.Event()
    timer = threading.Timer(seconds, _shut_down, [raw, is_late])
    timer.daemon = True
    timer.start()
    try:
        stream = raw
        if is_tls:
            stream = ssl.create_default_context().wrap_socket(raw, server_hostname=host)
        connection = http.client.HTTPConnection(host, port, timeout=seconds)
        connection.sock = stream
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        default = 443 if is_tls else 80
        name = f"[{host}]" if ":" in host else host
        own = {"Host": name if port == default else f"{name}:{port}", "Connection": "close"}
        connection.request("POST", path, body, {**headers, **own})
        with connection.getresponse() as response:
            content = response.read(MAX_REPLY)
            if is_late.is_set():  # the end that was read is that of the closed connection
                return WebhookResponse(problem=_describe_lateness(seconds))
            text = content.decode("utf-8", "replace")[:_SHOWN].replace("\x00", "")
            return WebhookResponse(response.status, text)
    except (OSError, http.client.HTTPException):
        if is_late.is_set():
            return WebhookResponse(problem=_describe_lateness(seconds))
        raise
    finally:
        timer.cancel()
        raw.close()


def _describe_lateness(seconds: float) -> str:
    return f"No complete response within {seconds:g} seconds."


def _shut_down(connection: socket.socket, is_late: threading.Event) -> None:
    is_late.set()
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it is closed
