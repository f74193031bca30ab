"""`/agents/python/`, from which pip installs the agent."""

import hashlib
import io
import re
import tarfile
import zipfile
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

pytestmark = pytest.mark.one_database

WHEEL = "flamewatch_agent-0.2.0-cp311-abi3-manylinux_2_17_x86_64.whl"
SDIST = "flamewatch_agent-0.2.0.tar.gz"
SETUPTOOLS = "setuptools-84.2.1-py3-none-any.whl"
JSON = "application/vnd.pypi.simple.v1+json"
# pip 22.3 to 23.0 search for the hash of a file in the whole URL, up to its end.
OLD_PIP_HASH = re.compile(r"(sha1|sha224|sha384|sha256|sha512|md5)=(.*)")


@lru_cache  # cached because both archives contain timestamps
def wheel(requires_python: str = ">=3.11") -> bytes:
    """Return a wheel that contains only metadata."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        metadata = f"Metadata-Version: 2.4\nRequires-Python: {requires_python}\n\nText.\n"
        archive.writestr("flamewatch_agent-0.2.0.dist-info/METADATA", metadata)
    return content.getvalue()


@lru_cache
def sdist() -> bytes:
    """Return an sdist that contains only metadata."""
    content, metadata = io.BytesIO(), b"Requires-Python: >=3.11\n"
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        member = tarfile.TarInfo("flamewatch_agent-0.2.0/PKG-INFO")
        member.size = len(metadata)
        archive.addfile(member, io.BytesIO(metadata))
    return content.getvalue()


class Links(HTMLParser):
    """Attributes of the links of a page, unescaped, by file name."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.by_name: dict[str, dict[str, str | None]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.link = dict(attrs)

    def handle_data(self, data: str) -> None:
        if data.strip().endswith((".whl", ".gz")):
            self.by_name[data] = self.link


def links(client: Client, address: str = "/agents/python/") -> dict[str, dict[str, str | None]]:
    return Links(client.get(address).content.decode()).by_name


def data_address(client: Client, name: str) -> str:
    return str(links(client)[name]["href"])


@pytest.fixture
def folder(settings: Settings, tmp_path: Path, db: None) -> Path:
    served = tmp_path / "agents"
    served.mkdir()
    (served / WHEEL).write_bytes(wheel())
    (served / SDIST).write_bytes(sdist())
    (served / SETUPTOOLS).write_bytes(wheel(">=3.10"))
    (served / "notes.txt").write_text("not served")
    (served / "other-1.0-py3-none-any.whl").write_text("not served")
    (tmp_path / "secret_key").write_text("never served")
    settings.AGENT_FILES_DIR = served
    return served


def test_index_lists_distributions_with_their_hashes(client: Client, folder: Path) -> None:
    assert list(links(client)) == [WHEEL, SDIST, SETUPTOOLS]
    digest = hashlib.sha256(wheel()).hexdigest()
    assert data_address(client, WHEEL) == (f"/agents/python/{digest[:16]}/{WHEEL}#sha256={digest}")


def test_hash_is_in_the_form_that_old_versions_of_pip_read(client: Client, folder: Path) -> None:
    found = OLD_PIP_HASH.search(data_address(client, WHEEL))
    assert found
    assert found.groups() == ("sha256", hashlib.sha256(wheel()).hexdigest())


def test_index_has_the_required_python_version_of_each_file(client: Client, folder: Path) -> None:
    listed = links(client)
    assert listed[WHEEL]["data-requires-python"] == ">=3.11"
    assert listed[SDIST]["data-requires-python"] == ">=3.11"
    assert listed[SETUPTOOLS]["data-requires-python"] == ">=3.10"
    assert 'data-requires-python="&gt;=3.11"' in client.get("/agents/python/").content.decode()


def test_odd_metadata_stays_within_its_attribute(client: Client, folder: Path) -> None:
    (folder / WHEEL).write_bytes(wheel('"><script>'))
    page = client.get("/agents/python/").content.decode()
    assert "<script" not in page
    assert Links(page).by_name[WHEEL]["data-requires-python"] == '"><script>'


@pytest.mark.parametrize("content", [b"", b"no distribution", sdist()[:30], wheel()[:50]])
def test_a_broken_file_is_listed_and_logged(
    content: bytes, client: Client, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / WHEEL).write_bytes(content)
    (folder / SDIST).write_bytes(content)
    listed = links(client)
    assert "data-requires-python" not in listed[WHEEL]
    assert "data-requires-python" not in listed[SDIST]
    assert f"{folder / WHEEL} is not a readable Python distribution" in caplog.text


def test_the_index_lists_projects_and_their_files(client: Client, folder: Path) -> None:
    page = client.get("/agents/python/simple/").content.decode()
    assert '<a href="/agents/python/simple/flamewatch-agent/">flamewatch-agent</a>' in page
    assert list(links(client, "/agents/python/simple/flamewatch-agent/")) == [WHEEL, SDIST]
    assert client.get("/agents/python/simple/other/").status_code == 404


def test_the_index_is_json_if_requested(client: Client, folder: Path) -> None:
    accept = f"{JSON}, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01"
    listed = client.get("/agents/python/simple/flamewatch-agent/", headers={"Accept": accept})
    assert listed.headers["Content-Type"] == JSON
    assert "Accept" in listed.headers["Vary"]
    digest = hashlib.sha256(wheel()).hexdigest()
    assert listed.json()["meta"] == {"api-version": "1.0"}
    assert listed.json()["name"] == "flamewatch-agent"
    assert listed.json()["files"][0] == {
        "filename": WHEEL,
        "url": f"/agents/python/{digest[:16]}/{WHEEL}",
        "hashes": {"sha256": digest},
        "requires-python": ">=3.11",
    }
    root = client.get("/agents/python/simple/", headers={"Accept": JSON}).json()
    assert root["projects"] == [{"name": "flamewatch-agent"}, {"name": "setuptools"}]


@pytest.mark.parametrize("accept", ["*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "x/y"])
def test_the_index_is_html_for_everybody_else(accept: str, client: Client, folder: Path) -> None:
    for address in ("/agents/python/simple/", "/agents/python/simple/flamewatch-agent/"):
        response = client.get(address, headers={"Accept": accept})
        assert response.headers["Content-Type"].startswith("text/html")


def test_file_is_served_without_a_session(client: Client, folder: Path) -> None:
    response = client.get(f"/agents/python/{SDIST}")
    assert response.content == sdist()
    assert response.headers["Content-Type"] == "application/gzip"
    assert "immutable" not in response.headers["Cache-Control"]


def test_urls_of_earlier_versions_still_work(client: Client, folder: Path) -> None:
    digest = hashlib.sha256(wheel()).hexdigest()
    assert client.get(f"/agents/python/{WHEEL}", {"sha256": digest}).content == wheel()


def test_file_by_its_hash_is_cacheable_as_immutable(client: Client, folder: Path) -> None:
    response = client.get(data_address(client, WHEEL))
    assert response.content == wheel()
    assert "immutable" in response.headers["Cache-Control"]


def test_a_file_that_is_built_again_has_another_address(client: Client, folder: Path) -> None:
    before = data_address(client, WHEEL)
    (folder / WHEEL).write_bytes(wheel(">=3.12"))
    after = data_address(client, WHEEL)
    assert client.get(after).content == wheel(">=3.12")
    gone = client.get(before)
    assert gone.status_code == 404
    assert "was rebuilt" in gone.content.decode()


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "flamewatch_agent-9.9.9.tar.gz",
        "..%2Fsecret_key",
        "../secret_key",
        "%2e%2e/secret_key",
        "flamewatch_agent-..%2F..%2Fsecret_key.whl",
    ],
)
def test_other_file_name_is_404(client: Client, folder: Path, name: str) -> None:
    assert client.get(f"/agents/python/{name}").status_code == 404


def test_index_without_a_folder_is_empty(client: Client, settings: Settings, db: None) -> None:
    settings.AGENT_FILES_DIR = Path("/nonexistent")
    assert "<a" not in client.get("/agents/python/").content.decode()
