"""HTTP client: one persistent connection, deadlines, bounded responses, no redirects."""

import contextlib
import os
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Literal
from urllib.parse import urlsplit

from flamewatch import unpatched
from flamewatch.transport.idle_socket import SocketIdentity, release_socket, socket_identity
from flamewatch.transport.proxies import proxy_for

CONNECT_SECONDS = 10.0
MAX_RESPONSE_BYTES = 1 << 20  # bytes

Method = Literal["POST", "PATCH"]


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    body: bytes
    retry_after: str | None  # the header
    location: str | None  # the header, for messages only


class Unreachable(Exception):
    """Missing response: not connected, cut off, too late or too long.

    The text is a short reason.
    """


class Connection:
    """Connection for one thread. Other threads may call `interrupt`."""

    def __init__(self, url: str, headers: dict[str, str], environ: Mapping[str, str] | None = None):
        parts = urlsplit(url)
        self._scheme, self._host = parts.scheme, parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._prefix, self._netloc = parts.path, parts.netloc
        self._headers = headers
        environ = os.environ if environ is None else environ
        self._proxy = proxy_for(self._scheme, self._host, self._port, environ)
        self._http: HTTPConnection | None = None
        self._tls: ssl.SSLContext | None = None
        self._identity: SocketIdentity | None = None
        self._dialing: socket.socket | None = None
        self._interrupted = False

    def request(self, method: Method, path: str, body: bytes, seconds: float) -> Response:
        """Send a request and return the response, whatever its status.

        `seconds` limits the time without a received byte. Raise `Unreachable` if there is no
        response.
        """
        try:
            if not self._is_usable():
                return self._exchange(method, path, body, seconds)
            with contextlib.suppress(*_STALE):
                return self._exchange(method, path, body, seconds)
            # The server closed the idle connection, which is normal: retry once on a new one.
            self.close()
            return self._exchange(method, path, body, seconds)
        except _FAILURES as error:
            self.close()
            raise Unreachable(_reason(error)) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection. Safe in a forked child.

        Nothing is sent to the server, because the parent may still use the connection.
        """
        connection, self._http = self._http, None
        if connection is not None:
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    release_socket(connection.sock, self._identity)
            connection.close()

    def interrupt(self) -> None:
        """Abort the request of another thread, and reject all later ones."""
        self._interrupted = True
        connection = self._http
        for open_socket in (connection.sock if connection else None, self._dialing):
            if open_socket is not None:
                with contextlib.suppress(OSError):
                    unpatched.shut_down(open_socket)

    def _exchange(self, method: Method, path: str, body: bytes, seconds: float) -> Response:
        connection = self._http or self._open_connection()
        if self._interrupted:
            raise OSError("stopping")
        connection.sock.settimeout(seconds)
        connection.request(method, self._target(path), body, self._request_headers())
        http_response = connection.getresponse()
        response = Response(
            http_response.status,
            _read_body(http_response),
            http_response.getheader("Retry-After"),
            http_response.getheader("Location"),
        )
        if http_response.will_close:
            self.close()
        return response

    def _is_usable(self) -> bool:
        """Return whether there is an open connection whose socket is still the agent's."""
        open_socket = self._http.sock if self._http else None
        if open_socket is None or socket_identity(open_socket) != self._identity:
            self.close()
        return self._http is not None

    def _open_connection(self) -> HTTPConnection:
        connection = self._http = self._new()
        connection.connect()
        self._identity = socket_identity(connection.sock)
        return connection

    def _new(self) -> HTTPConnection:
        proxy = self._proxy
        host, port = (proxy.host, proxy.port) if proxy else (self._host, self._port)
        connection: HTTPConnection
        if self._scheme == "https":
            # Reading the system's certificates takes milliseconds, so the context is reused.
            self._tls = self._tls or unpatched.tls_context()
            connection = HTTPSConnection(host, port, timeout=CONNECT_SECONDS, context=self._tls)
            if proxy:
                connection.set_tunnel(self._host, self._port, proxy.headers)
        else:
            connection = HTTPConnection(host, port, timeout=CONNECT_SECONDS)
        # HTTPConnection would call the `socket` module of this process, which may be patched.
        setattr(connection, "_create_connection", self._dial)  # noqa: B010
        return connection

    def _target(self, path: str) -> str:
        through = self._proxy and self._scheme == "http"
        return f"http://{self._netloc}{self._prefix}{path}" if through else self._prefix + path

    def _request_headers(self) -> dict[str, str]:
        ours = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        plain_proxy = self._proxy.headers if self._proxy and self._scheme == "http" else {}
        return self._headers | ours | plain_proxy

    def _dial(self, address: tuple[str, int], timeout: float, source: Any = None) -> socket.socket:
        """Connect like socket.create_connection, but interruptibly."""
        failure: OSError = OSError("the name has no address")
        for family, kind, protocol, _, target in unpatched.addresses(*address):
            made = self._dialing = unpatched.new_socket(family, kind, protocol)
            try:
                self._connect(made, target, timeout)
            except OSError as error:
                failure = error
                made.close()
            else:
                return made
            finally:
                self._dialing = None
        raise failure

    def _connect(self, made: socket.socket, target: Any, timeout: float) -> None:
        if self._interrupted:
            raise OSError("stopping")
        made.settimeout(timeout)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A parked handshake is silent for about a minute. Keepalive detects a peer that is gone.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        made.connect(target)


# AttributeError: raised by http.client if its socket is closed during a request.
_FAILURES = (OSError, HTTPException, ValueError, AttributeError)
_STALE = (ConnectionError,)


def _read_body(response: HTTPResponse) -> bytes:
    if response.length is not None and response.length > MAX_RESPONSE_BYTES:
        raise HTTPException(f"its answer is larger than {MAX_RESPONSE_BYTES} bytes")
    body = response.read(MAX_RESPONSE_BYTES + 1)
    if len(body) > MAX_RESPONSE_BYTES:
        raise HTTPException(f"its answer is larger than {MAX_RESPONSE_BYTES} bytes")
    return body


def _reason(error: Exception) -> str:
    """Return a readable reason without any part of the request, which contains the key."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ConnectionError) and not error.strerror:
        return "the connection was closed without an answer"
    if isinstance(error, OSError):
        return (error.strerror or str(error) or type(error).__name__).lower()
    return f"{type(error).__name__}: {error}" if type(error) is not HTTPException else str(error)
