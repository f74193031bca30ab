"""`--ca-file` with servers whose certificate a CA of their own has signed."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from flamewatch_client.main import main
from tests.certificates import Certificate, make_certificate


class NoServices(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"services": []}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_arguments: object) -> None:
        """Print nothing."""


@contextmanager
def serve(certificate: Certificate, address: str = "127.0.0.1") -> Iterator[str]:
    """Serve over TLS; yield the URL."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.certificate, certificate.key)
    with ThreadingHTTPServer((address, 0), NoServices) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"https://{address}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Certificate:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("FLAMEWATCH_TOKEN", "fw_x")
    return make_certificate(tmp_path)


def list_services(url: str, *options: str) -> int:
    return main(["services", "--url", url, *options])


def test_server_of_the_given_ca_is_trusted(certificate: Certificate) -> None:
    with serve(certificate) as url:
        assert list_services(url, "--ca-file", str(certificate.certificate)) == 0


def test_server_of_an_unknown_ca_is_not_trusted(
    certificate: Certificate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    other = make_certificate(tmp_path / "other")
    with serve(certificate) as url:
        assert list_services(url) == 1
        assert list_services(url, "--ca-file", str(other.certificate)) == 1
    errors = capsys.readouterr().err
    assert errors.count("is not trusted") == 2
    assert "pass its certificate with --ca-file" in errors


def test_certificate_of_another_host_is_not_trusted(
    certificate: Certificate, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(certificate, "127.0.0.2") as url:
        assert list_services(url, "--ca-file", str(certificate.certificate)) == 1
    assert "127.0.0.2" in capsys.readouterr().err


def test_file_that_is_no_certificate_is_named(
    certificate: Certificate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("none.pem", "key.pem"):
        assert list_services("https://127.0.0.1:1", "--ca-file", str(tmp_path / name)) == 1
        assert f"Cannot read the CA file {tmp_path / name}" in capsys.readouterr().err
