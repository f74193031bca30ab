"""The stored login, and the variables that win over it."""

import stat
from pathlib import Path

import pytest

from flamewatch_client import stored_login
from flamewatch_client.errors import RequestFailed
from flamewatch_client.stored_login import Login

STORED = Login("https://a.example", "fwp_a", "shop")


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("URL", "TOKEN", "KEY", "PROJECT"):
        monkeypatch.delenv(f"FLAMEWATCH_{name}", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


def test_only_the_owner_may_read_the_file(config: Path) -> None:
    path = stored_login.save(STORED)
    assert path.is_relative_to(config)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stored_login.load() == STORED


def test_the_environment_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    stored_login.save(STORED)
    monkeypatch.setenv("FLAMEWATCH_TOKEN", "fwp_b")
    assert stored_login.load().token == "fwp_b"


def test_the_token_is_not_sent_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    stored_login.save(STORED)
    monkeypatch.setenv("FLAMEWATCH_URL", "https://b.example/")
    assert stored_login.load() == Login("https://b.example")


def test_a_damaged_file_is_named(config: Path) -> None:
    stored_login.save(STORED).write_text("{")
    with pytest.raises(RequestFailed, match="Run `flamewatch login` again"):
        stored_login.load()
