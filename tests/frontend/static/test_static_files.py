"""Static files collected under hashed names, with imports and templates rewritten."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import Settings

from profiler_site.static_files.storage import BundlingStorage

pytestmark = pytest.mark.slow

IMPORTED = re.compile(r"""(?:from|import\()\s*['"](\.{1,2}/[^'"]+)['"]""")


@pytest.fixture
def collected(settings: Settings, collected_static_files: Path) -> Path:
    settings.STATIC_ROOT = collected_static_files
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "profiler_site.static_files.storage.BundlingStorage"}
    }
    return collected_static_files


def test_modules_import_each_other_by_their_hashed_names(collected: Path) -> None:
    (page,) = collected.glob("flame-graph/page/page.????????????.js")
    (common,) = collected.glob("bundles/common.????????????.js")
    imports = IMPORTED.findall(page.read_text())
    assert f"../../bundles/{common.name}" in imports
    assert len(imports) >= 3
    for name in imports:
        assert re.search(r"\.[0-9a-f]{12}\.js$", name), name
        assert (page.parent / name).exists()


def test_modules_within_bundles_are_not_collected(collected: Path) -> None:
    assert not list(collected.rglob("tree*.js"))
    manifest = (collected / "staticfiles.json").read_text()
    assert '"flame-graph/page/page.js"' in manifest
    assert '"flame-graph/tree/tree.js"' not in manifest


def test_collecting_again_changes_nothing(collected: Path) -> None:
    before = {path: path.read_bytes() for path in collected.rglob("*.js")}
    call_command("collectstatic", interactive=False, verbosity=0)
    assert {path: path.read_bytes() for path in collected.rglob("*.js")} == before


def test_vendored_scripts_are_never_searched_for_imports(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that vendored scripts are not searched: one pass per import level took seconds."""
    searched: list[str] = []
    original = BundlingStorage.url_converter

    def url_converter(self: BundlingStorage, name: str, *rest: Any) -> Any:
        searched.append(name)
        return original(self, name, *rest)

    monkeypatch.setattr(BundlingStorage, "url_converter", url_converter)
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "profiler_site.static_files.storage.BundlingStorage"}
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    scripts = {name for name in searched if name.endswith(".js")}
    assert "shell/shell.js" in scripts
    assert not {name for name in scripts if name.startswith(("admin/", "vendor/"))}


def test_vendored_scripts_have_hashed_names_and_unchanged_contents(collected: Path) -> None:
    (hashed,) = collected.glob("admin/js/core.????????????.js")
    assert hashed.read_bytes() == (collected / "admin/js/core.js").read_bytes()
    assert '"admin/js/core.js"' in (collected / "staticfiles.json").read_text()
