"""The standard library as it was before gevent or eventlet replaced parts of it.

The agent's thread is a real one and waits in system calls. With a patched `socket` it would run
an event loop of its own, or the host's; so it asks here for what it waits with.
"""

import _thread

# The socket module asks for it when it first sees a host's name. A process that forks while a
# thread of it is importing has a child in which that import never ends, so nothing may be left
# for the agent's thread to import.
import encodings.idna  # noqa: F401
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from typing import Any

# Sent to the thread that is at fault; blocked, they would end the process without a handler's word.
_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT}


def original(module: str, name: str) -> Any:
    """`module.name` of the standard library, unpatched."""
    gevent = sys.modules.get("gevent.monkey")
    if gevent is not None:
        return gevent.get_original(module, name)
    eventlet = sys.modules.get("eventlet.patcher")
    if eventlet is not None:
        return getattr(eventlet.original(module), name)
    return getattr(sys.modules[module], name)


def new_socket(family: int, kind: int, protocol: int) -> socket.socket:
    made: socket.socket = original("socket", "socket")(family, kind, protocol)
    return made


def addresses(host: str, port: int) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = original("socket", "getaddrinfo")(
        host, port, 0, socket.SOCK_STREAM
    )
    return found


def shut_down(made: socket.socket) -> None:
    """Wake whoever waits for this socket, in whatever thread.

    Not the method of ssl.SSLSocket: that one takes the TLS object away from under a reader.
    """
    original("socket", "socket").shutdown(made, socket.SHUT_RDWR)


def tls_context() -> ssl.SSLContext:
    """Verifies certificates and names, against the system's authorities or SSL_CERT_FILE."""
    context: ssl.SSLContext = original("ssl", "SSLContext")(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    context.set_alpn_protocols(["http/1.1"])
    return context


def new_lock() -> _thread.LockType:
    lock: _thread.LockType = original("_thread", "allocate_lock")()
    return lock


def new_rlock() -> threading.RLock:
    lock: threading.RLock = original("_thread", "RLock")()
    return lock


def start_thread(target: Callable[[], None]) -> None:
    """A thread of the system, unknown to `threading`: nobody counts, joins or traces it.

    It takes no signals: a host that blocks one in its own threads, to wait for it, must not have it
    delivered here.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _FAULTS)
    try:
        original("_thread", "start_new_thread")(target, ())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
