"""Static files are collected under hashed names, with imports and templates following."""

import re
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

IMPORTED = re.compile(r"from\s*['\"](\./[^'\"]+)['\"]")


@pytest.fixture
def collected(settings: Settings, tmp_path: Path) -> Path:
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "profiler_site.static_files.ModuleManifestStorage"}
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    return tmp_path


def test_modules_import_each_other_by_their_hashed_names(collected: Path) -> None:
    (shell,) = collected.glob("shell/shell.????????????.js")
    imports = IMPORTED.findall(shell.read_text())
    assert len(imports) >= 4
    for name in imports:
        assert re.search(r"\.[0-9a-f]{12}\.js$", name), name
        assert (shell.parent / name).exists()
