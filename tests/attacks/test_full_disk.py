"""Full disk: queries continue, uploads get an error response, and no repair is needed."""

import base64
import contextlib
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from profiler_site.process import disk_reserve
from tests.ingest.pprof import profile
from tests.server import RunningServer, server_in
from tests.waiting import until

pytestmark = [pytest.mark.server, pytest.mark.timeout(400)]
DISK = "160m"
SECONDS = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder whose `data` is a small separate disk; mounting it needs root."""
    disk = tmp_path / "data"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", disk], check=True)
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def fill(folder: Path) -> Path:
    """Write to the disk until no byte fits."""
    path = folder / "data" / "filler"
    with path.open("ab", buffering=0) as file:
        for size in (2**20, 2**12, 1):
            with contextlib.suppress(OSError):
                while file.write(b"x" * size):
                    pass
    return path


def ask(
    server: RunningServer, path: str, key: str = "", body: bytes | None = None
) -> tuple[int, bytes]:
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(server.url + path, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


class Shop:
    """Project with one key per scope, on whichever server serves its data at present."""

    def __init__(self, server: RunningServer) -> None:
        self._uploads = 0
        tenant = server.add_tenant()
        self.project, self.write, self.read = tenant.project, tenant.write, tenant.read

    def upload(self, server: RunningServer) -> tuple[int, bytes]:
        path = f"/v2/projects/{self.project}/profiles:createOffline"
        self._uploads += 1  # makes each upload a different profile
        body = base64.b64encode(profile({("main", "work"): (self._uploads, 10**7)})).decode()
        message = {"profileType": "CPU", "deployment": {"target": "shop"}, "duration": "10s"}
        return ask(server, path, self.write, orjson.dumps(message | {"profileBytes": body}))

    def profiles(self, server: RunningServer) -> int:
        """Return the number of profiles in a merged tree."""
        path = f"/api/v1/projects/{self.project}/tree?service=shop&type=CPU"
        status, text = ask(server, path, self.read)
        assert status == 200, text
        return int(orjson.loads(text)["profiles"])


def assert_full_but_serving(server: RunningServer, shop: Shop, profiles: int) -> None:
    status, text = until(
        lambda: response if (response := ask(server, "/ready"))[0] == 503 else None,
        SECONDS,
        "response that the server is not ready",
    )
    assert b"disk is full" in text
    assert ask(server, "/ok") == (200, b"ok\n")
    status, text = shop.upload(server)
    assert status == 503, text
    error = orjson.loads(text)["error"]
    assert "disk" in error["message"]
    assert "full" in error["message"]
    assert error["status"] == "UNAVAILABLE"
    assert any("retryDelay" in detail for detail in error["details"])
    assert shop.profiles(server) == profiles


def test_full_disk_gets_uploads_503_until_space_is_free(folder: Path) -> None:
    with server_in(folder) as server:
        shop = Shop(server)
        assert shop.upload(server)[0] == 200
        assert shop.profiles(server) == 1
        assert (folder / "data" / "disk-reserve").stat().st_size == disk_reserve.BYTES
        filler = fill(folder)
        assert_full_but_serving(server, shop, profiles=1)
        filler.unlink()
        until(lambda: shop.upload(server)[0] == 200, SECONDS, "upload that is stored")
        assert ask(server, "/ready") == (200, b"ready\n")
        until(lambda: shop.profiles(server) == 2, SECONDS, "second profile")
        fill(folder)
        assert server.interrupt() == 0
    filler = fill(folder)  # including the space freed when the server stopped
    with server_in(folder) as server:
        assert_full_but_serving(server, shop, profiles=2)
        filler.unlink()
        until(lambda: shop.upload(server)[0] == 200, SECONDS, "upload that is stored")
        until(lambda: shop.profiles(server) == 3, SECONDS, "third profile")
        assert ask(server, "/ready") == (200, b"ready\n")
        assert "Traceback" not in server.log.read_text()
