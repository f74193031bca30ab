"""Bundles of the browser's modules are those that the bundler makes, and complete."""

import re
import subprocess
from pathlib import Path

import pytest

from profiler_site.static_files.bundles import FOLDER, BundlesOutdated, fingerprint, read_bundles
from tests import services
from tests.paths import ROOT, own_scripts

NAMED = re.compile(r"{% static '([^']+\.js)' %}")


def test_bundles_are_made_of_the_modules_that_are_here(tmp_path: Path) -> None:
    command = [services.find("node"), str(ROOT / "tools" / "bundle.mjs"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made, stored = (
        {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.*")}
        for folder in (tmp_path, FOLDER)
    )
    assert made == stored, "run `make bundles`"


def test_every_script_of_a_template_has_a_bundle() -> None:
    templates = (ROOT / "frontend" / "templates").rglob("*.html")
    named = {name for path in templates for name in NAMED.findall(path.read_text())}
    assert len(named) > 10
    bundles = read_bundles(own_scripts())
    # Served as they are: vendored ones, and those of django-allauth.
    libraries = ("vendor/", "mfa/", "account/")
    assert {name for name in named if not name.startswith(libraries)} <= bundles.keys()


def test_scripts_before_the_modules_are_no_modules() -> None:
    for name in ("shell/early.js", "flame-graph/page/early-tree.js"):
        assert not re.search(r"\b(import|export)\b", (FOLDER / name).read_text())


def test_bundles_of_other_modules_are_not_served(tmp_path: Path) -> None:
    (tmp_path / "page.js").write_text("1;")
    (tmp_path / "sources.sha256").write_text(fingerprint({"page.js": b"let a = 1;"}))
    assert read_bundles({"page.js": b"let a = 1;"}, tmp_path) == {"page.js": "1;"}
    with pytest.raises(BundlesOutdated, match="run `make bundles`"):
        read_bundles({"page.js": b"let a = 2;"}, tmp_path)
    with pytest.raises(BundlesOutdated):
        read_bundles({"other.js": b"let a = 1;"}, tmp_path)
