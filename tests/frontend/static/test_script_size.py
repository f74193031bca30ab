"""Size of the scripts that each page loads."""

import gzip
import posixpath
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import allauth
import pytest
from django.test import Client

from profiler_site.static_files.bundles import read_bundles
from projects.models import Project, User
from tests.frontend import shop
from tests.frontend.every_page import PAGES
from tests.paths import STATIC, own_scripts

pytestmark = [pytest.mark.one_database, pytest.mark.django_db]
# Bytes, compressed, that a page loads before its first picture. The flame page has 62 kB, of which
# 21 kB are htmx and Idiomorph; it loads 33 kB for the chart above the graph after the graph.
LIMIT = 85_000
LOADED = re.compile(r'<script src="/static/([^"]+)"')
# Imports of a bundle and of its workers, and of files that it loads later: each is a quoted path.
AT_ONCE = re.compile(r"""(?:from|import|new URL\()\s*['"`](\.{1,2}/[^'"`]+\.js)['"`]""")
LATER = re.compile(r"""import\(\s*['"](\.{1,2}/[^'"]+\.js)['"]""")
Scripts = Mapping[str, str]
# Of the pages of passkeys.
ALLAUTH_SCRIPTS = {"account/js/onload.js", "mfa/js/webauthn.js", "mfa/js/webauthn-json.js"}


@pytest.fixture(scope="module")
def served() -> Scripts:
    """Return the text of each script that the server has, by path."""
    vendored = {f"vendor/{path.name}": path.read_text() for path in STATIC.glob("vendor/*.js")}
    scripts = Path(allauth.__file__).parent
    of_allauth = {
        path.relative_to(folder).as_posix(): path.read_text()
        for folder in (scripts / "account/static", scripts / "mfa/static")
        for path in folder.rglob("*.js")
        if path.relative_to(folder).as_posix() in ALLAUTH_SCRIPTS
    }
    return vendored | of_allauth | read_bundles(own_scripts())


@pytest.fixture
def load_and_render(alice: User, project: Project) -> dict[str, set[str]]:
    """Return the scripts that each page has in its head."""
    member, stranger = Client(), Client()
    member.force_login(alice)
    shop.deployment(project)  # without a service the flame page has no tree to request
    found = {}
    for shown in PAGES:
        response = (stranger if shown.stranger else member).get(shown.address)
        found[str(shown)] = set(LOADED.findall(response.content.decode()))
    return found


def test_no_page_loads_more_than_85_kb_of_scripts_at_once(
    load_and_render: dict[str, set[str]], served: Scripts
) -> None:
    weights = {
        name: sum(_weight(served[each]) for each in _with_imports(served, scripts, AT_ONCE))
        for name, scripts in load_and_render.items()
    }
    assert weights["flame"] > weights["services"] > 10_000, weights
    assert {name: weight for name, weight in weights.items() if weight > LIMIT} == {}


def test_every_script_is_loaded_by_some_page(
    load_and_render: dict[str, set[str]], served: Scripts
) -> None:
    """Check that some page loads each script, at once or later."""
    scripts = set().union(*load_and_render.values())
    assert served.keys() - _with_imports(served, scripts, AT_ONCE, LATER) == set()


def _with_imports(served: Scripts, scripts: Iterable[str], *named: re.Pattern[str]) -> set[str]:
    found: set[str] = set()
    open_ = list(scripts)
    while open_:
        script = open_.pop()
        if script in found:
            continue
        found.add(script)
        names = [name for each in named for name in each.findall(served[script])]
        open_ += [posixpath.normpath(f"{posixpath.dirname(script)}/{name}") for name in names]
    return found


def _weight(text: str) -> int:
    return len(gzip.compress(text.encode()))
