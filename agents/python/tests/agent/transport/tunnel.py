"""HTTP proxy that supports CONNECT, for one connection, always to the same port."""

import contextlib
import socket
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def tunnel(port: int) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the proxy's address and a list of the request heads that it receives."""
    heads: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_serve, args=(listening, port, heads), daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", heads


def _serve(listening: socket.socket, port: int, heads: list[bytes]) -> None:
    client, _ = listening.accept()
    heads.append(client.recv(65536))
    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    server = socket.create_connection(("127.0.0.1", port))
    threading.Thread(target=_copy, args=(client, server), daemon=True).start()
    _copy(server, client)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
