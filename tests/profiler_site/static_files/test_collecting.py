"""Static files are collected again only after a change."""

from pathlib import Path

import pytest
from pytest_django import Settings

from profiler_site.static_files import storage


@pytest.fixture
def collected(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of management commands that were called; the only source is a.css."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.css").write_text("a {}")
    root = tmp_path / "root"
    root.mkdir()
    settings.STATIC_ROOT = root
    settings.STATICFILES_DIRS = [source]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    called: list[str] = []
    monkeypatch.setattr(storage, "call_command", lambda name, **_: called.append(name))
    return called


def test_unchanged_files_are_collected_once(collected: list[str]) -> None:
    storage.collect_static_files()
    storage.collect_static_files()
    assert collected == ["collectstatic"]


def test_a_changed_file_is_collected(collected: list[str], tmp_path: Path) -> None:
    storage.collect_static_files()
    (tmp_path / "source" / "a.css").write_text("a { color: red }")
    storage.collect_static_files()
    assert len(collected) == 2


def test_a_new_version_collects_all(collected: list[str], settings: Settings) -> None:
    storage.collect_static_files()
    settings.VERSION = "9.9"
    storage.collect_static_files()
    assert len(collected) == 2
