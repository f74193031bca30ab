"""Standard library as it was before gevent or eventlet patched it.

The agent's thread is a native one and waits in system calls. With a patched `socket` it would run
an event loop of its own or use the host's, so it gets its blocking primitives from here.
"""

import _thread

# The socket module imports this on first use of a host name. If a process forks while one of its
# threads imports a module, that import never ends in the child, so the agent's thread must have
# nothing left to import.
import encodings.idna  # noqa: F401
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from typing import Any

# The kernel sends these to the faulting thread. If they were blocked, they would end the process
# without running a handler.
_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT}


def original(module: str, name: str) -> Any:
    """Return the unpatched `module.name` of the standard library."""
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
    """Wake any thread that waits for this socket.

    Do not call the method of ssl.SSLSocket: it removes the TLS object while another thread reads.
    """
    original("socket", "socket").shutdown(made, socket.SHUT_RDWR)


def tls_context() -> ssl.SSLContext:
    """Return a context that verifies certificates and names.

    The authorities are those of the system or of SSL_CERT_FILE.
    """
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
    """Start a native thread unknown to `threading`, so that nobody counts, joins or traces it.

    All signals but faults are blocked in it: if the host blocks a signal in its own threads to wait
    for it, the signal must not be delivered here.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - _FAULTS)
    try:
        original("_thread", "start_new_thread")(target, ())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
