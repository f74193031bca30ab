import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_server import (
    FakeServer,
    announced_flood,
    cut,
    error_response,
    flood,
    garbage,
    never_responds,
    redirect,
    serving,
    stored,
    text,
)
from tunnel import tunnel

from flamewatch.transport import wire
from flamewatch.transport.wire import Connection, Unreachable

SECONDS = 10.0
HEADERS = {"Authorization": "Bearer secret-key", "User-Agent": "flamewatch-python/test"}


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    made = Connection(url, HEADERS, {})
    yield made
    made.close()


def patch(connection: Connection, seconds: float = SECONDS) -> wire.Response:
    return connection.request("PATCH", "/v2/projects/a/profiles/b", b'{"x": 1}', seconds)


def test_a_request_carries_our_headers(connection: Connection, server: FakeServer) -> None:
    assert patch(connection).status == 200
    [seen] = server.seen
    assert (seen.method, seen.path) == ("PATCH", "/v2/projects/a/profiles/b")
    assert seen.json == {"x": 1}
    assert seen.headers["authorization"] == "Bearer secret-key"
    assert seen.headers["user-agent"] == "flamewatch-python/test"
    assert seen.headers["content-type"] == "application/json"


def test_one_connection_is_reused(connection: Connection, server: FakeServer) -> None:
    for _ in range(5):
        patch(connection)
    assert server.connections == 1


def test_a_connection_that_was_closed_while_idle_is_no_failure(
    connection: Connection, server: FakeServer
) -> None:
    server.respond_with("PATCH", stored, cut, stored)
    patch(connection)
    assert patch(connection).status == 200
    assert server.connections == 2


def test_requests_begin_with_the_path_of_the_server_url(url: str, server: FakeServer) -> None:
    patch(Connection(f"{url}/flame", HEADERS, {}))
    assert server.seen[0].path == "/flame/v2/projects/a/profiles/b"


def test_error_responses_are_returned(connection: Connection, server: FakeServer) -> None:
    server.respond_with("PATCH", error_response(503), error_response(401), text(b"<html>", 502))
    assert [patch(connection).status for _ in range(3)] == [503, 401, 502]


def test_refused_connection_is_unreachable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(Unreachable, match="connection refused"):
            patch(Connection(f"http://127.0.0.1:{unused.getsockname()[1]}", HEADERS, {}))


def test_unknown_host_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        patch(Connection("http://no-such-host.invalid", HEADERS, {}))


def test_a_server_that_hangs_is_given_up(connection: Connection, server: FakeServer) -> None:
    server.respond_with("PATCH", never_responds)
    with pytest.raises(Unreachable, match="no answer in time"):
        patch(connection, 0.1)


@pytest.mark.parametrize("babble", [garbage, cut, flood, announced_flood])
def test_malformed_response_is_unreachable_and_closes_the_connection(
    connection: Connection, server: FakeServer, babble: object
) -> None:
    server.respond_with("PATCH", babble, stored)  # type: ignore[arg-type]
    with pytest.raises(Unreachable) as raised:
        patch(connection)
    assert "secret-key" not in str(raised.value)
    assert patch(connection).status == 200, "the next request has a new connection"


def test_a_redirect_is_not_followed(connection: Connection, server: FakeServer) -> None:
    with serving() as (elsewhere, other_url):
        server.respond_with("PATCH", redirect(other_url))
        response = patch(connection)
        assert (response.status, response.location) == (302, other_url)
        assert elsewhere.seen == []


def test_another_thread_can_end_a_request(connection: Connection, server: FakeServer) -> None:
    server.respond_with("PATCH", never_responds)
    errors: list[Exception] = []

    def fetch() -> None:
        try:
            patch(connection, 60)
        except Unreachable as error:
            errors.append(error)

    thread = threading.Thread(target=fetch)
    thread.start()
    server.wait_for("PATCH")
    connection.interrupt()
    thread.join(10)
    assert not thread.is_alive()
    assert len(errors) == 1
    with pytest.raises(Unreachable, match="stopping"):
        patch(connection)


def test_closing_the_copy_of_a_fork_leaves_the_parents_connection_open(
    connection: Connection, server: FakeServer
) -> None:
    patch(connection)
    http = connection._http
    assert http is not None
    parents = http.sock.dup()
    connection.close()
    parents.sendall(b"PATCH / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
    assert parents.recv(100).startswith(b"HTTP/1.1 200"), "the parent's is open as it was"
    parents.close()


def test_descriptor_reused_by_the_host_is_not_closed(
    connection: Connection, server: FakeServer, tmp_path: Path
) -> None:
    """Daemons close unknown descriptors, and open files under the same numbers."""
    patch(connection)
    http = connection._http
    assert http is not None
    number = http.sock.fileno()
    with (tmp_path / "log").open("wb") as theirs:
        os.dup2(theirs.fileno(), number)
        assert patch(connection).status == 200
        connection.close()
        os.write(number, b"theirs")
        os.close(number)
    assert (tmp_path / "log").read_bytes() == b"theirs"
    assert server.connections == 2


def test_http_goes_through_a_proxy_as_a_whole_address(url: str, server: FakeServer) -> None:
    environ = {"http_proxy": url.replace("http://", "http://user:word@")}
    patch(Connection("http://profiles.invalid:8000", HEADERS, environ))
    [seen] = server.seen
    assert seen.path == "http://profiles.invalid:8000/v2/projects/a/profiles/b"
    assert seen.headers["host"] == "profiles.invalid:8000"
    assert seen.headers["proxy-authorization"] == "Basic dXNlcjp3b3Jk"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    key, pem = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-nodes", "-days", "2", "-keyout", str(key), "-out", str(pem)]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return key, pem


@pytest.fixture
def tls_url(certificate: tuple[Path, Path]) -> Iterator[str]:
    key, pem = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    with serving(context) as (_, found):
        yield found.replace("127.0.0.1", "localhost")


def test_a_certificate_of_unknown_origin_is_rejected(tls_url: str) -> None:
    with pytest.raises(Unreachable, match="certificate is not trusted"):
        patch(Connection(tls_url, HEADERS, {}))


def test_a_certificate_for_another_name_is_rejected(
    tls_url: str, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    with pytest.raises(Unreachable, match="certificate is not trusted"):
        patch(Connection(tls_url.replace("localhost", "127.0.0.1"), HEADERS, {}))


def test_the_systems_authorities_can_be_set(
    tls_url: str, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    connection = Connection(tls_url, HEADERS, {})
    assert patch(connection).status == 200
    assert patch(connection).status == 200
    connection.close()


def test_tls_goes_through_a_proxy_as_a_tunnel(
    tls_url: str, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    with tunnel(int(tls_url.rpartition(":")[2])) as (proxy_url, heads):
        connection = Connection(tls_url, HEADERS, {"https_proxy": proxy_url})
        assert patch(connection).status == 200
        connection.close()
    assert heads[0].startswith(b"CONNECT localhost:")
    assert b"secret-key" not in heads[0]
