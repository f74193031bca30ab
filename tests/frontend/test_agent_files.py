"""`/agents/python/`: what pip installs the agent from."""

import hashlib
import re
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

WHEEL = "flamewatch_agent-0.1.0-cp311-abi3-linux_x86_64.whl"
SDIST = "flamewatch_agent-0.1.0.tar.gz"


@pytest.fixture
def folder(settings: Settings, tmp_path: Path, db: None) -> Path:
    served = tmp_path / "agents"
    served.mkdir()
    (served / WHEEL).write_bytes(b"a wheel")
    (served / SDIST).write_bytes(b"an sdist")
    (served / "notes.txt").write_text("not served")
    (tmp_path / "secret_key").write_text("never served")
    settings.AGENT_FILES_DIR = served
    return served


def test_it_lists_the_distributions_with_their_hashes(client: Client, folder: Path) -> None:
    page = client.get("/agents/python/").content.decode()
    digest = hashlib.sha256(b"a wheel").hexdigest()
    assert f'href="/agents/python/{WHEEL}?sha256={digest}#sha256={digest}">{WHEEL}</a>' in page
    assert re.findall(r">([^<]+)</a>", page) == [WHEEL, SDIST]


def test_it_serves_them_to_anyone(client: Client, folder: Path) -> None:
    answer = client.get(f"/agents/python/{SDIST}")
    assert answer.content == b"an sdist"
    assert answer.headers["Content-Type"] == "application/gzip"


def test_what_is_asked_for_by_its_hash_may_be_kept_for_ever(client: Client, folder: Path) -> None:
    digest = hashlib.sha256(b"a wheel").hexdigest()
    kept = client.get(f"/agents/python/{WHEEL}", {"sha256": digest})
    assert "immutable" in kept.headers["Cache-Control"]
    asked = client.get(f"/agents/python/{WHEEL}", {"sha256": "0" * 64})
    assert "immutable" not in asked.headers["Cache-Control"]


def test_a_file_that_is_built_again_has_another_hash(client: Client, folder: Path) -> None:
    client.get("/agents/python/")
    (folder / WHEEL).write_bytes(b"another wheel")
    page = client.get("/agents/python/").content.decode()
    assert hashlib.sha256(b"another wheel").hexdigest() in page


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "flamewatch_agent-9.9.9.tar.gz",
        "..%2Fsecret_key",
        "../secret_key",
        "%2e%2e/secret_key",
        "flamewatch_agent-..%2F..%2Fsecret_key.whl",
        "flamewatch_agent-%00.whl",
    ],
)
def test_nothing_else_is_served(client: Client, folder: Path, name: str) -> None:
    assert client.get(f"/agents/python/{name}").status_code == 404


def test_an_empty_server_lists_nothing(client: Client, settings: Settings, db: None) -> None:
    settings.AGENT_FILES_DIR = Path("/nonexistent")
    assert "<a" not in client.get("/agents/python/").content.decode()
