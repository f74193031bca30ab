"""Size of the scripts that each page loads."""

import gzip
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from django.test import Client

from projects.models import Project, User
from tests.frontend import shop
from tests.frontend.every_page import PAGES
from tests.paths import STATIC

pytestmark = pytest.mark.django_db
# Bytes, compressed, that a page loads before its first picture. The flame page has 110 kB, of which
# 21 kB are htmx and Idiomorph; it loads 33 kB for the chart above the graph after the graph.
LIMIT = 110_000
LOADED = re.compile(r'<script src="/static/([^"]+)"')
# Imports of a module and of its workers, and of modules that it loads later: each is a quoted path.
AT_ONCE = re.compile(r"""(?:from|import|new URL\()\s*['"](\.{1,2}/[^'"]+\.js)['"]""")
LATER = re.compile(r"""import\(\s*['"](\.{1,2}/[^'"]+\.js)['"]""")


@pytest.fixture
def loaded(alice: User, project: Project) -> dict[str, set[Path]]:
    """Return the scripts that each page has in its head."""
    member, stranger = Client(), Client()
    member.force_login(alice)
    shop.deployment(project)  # without a service the flame page has no tree to request
    found = {}
    for shown in PAGES:
        response = (stranger if shown.stranger else member).get(shown.address)
        found[str(shown)] = set(_scripts(response.content.decode()))
    return found


def test_no_page_loads_more_than_110_kb_of_scripts_at_once(loaded: dict[str, set[Path]]) -> None:
    weights = {
        name: sum(map(_weight, _with_imports(scripts, AT_ONCE))) for name, scripts in loaded.items()
    }
    assert weights["flame"] > weights["services"] > 10_000, weights
    assert {name: weight for name, weight in weights.items() if weight > LIMIT} == {}


def test_every_script_is_some_pages(loaded: dict[str, set[Path]]) -> None:
    """Check that some page loads each script, at once or later."""
    scripts = set().union(*loaded.values())
    assert set(STATIC.rglob("*.js")) - _with_imports(scripts, AT_ONCE, LATER) == set()


def _scripts(html: str) -> Iterator[Path]:
    return (STATIC / name for name in LOADED.findall(html))


def _with_imports(scripts: Iterable[Path], *named: re.Pattern[str]) -> set[Path]:
    found: set[Path] = set()
    open_ = list(scripts)
    while open_:
        path = open_.pop()
        if path in found:
            continue
        found.add(path)
        text = path.read_text()
        names = [name for each in named for name in each.findall(text)]
        open_ += [(path.parent / name).resolve() for name in names]
    return found


def _weight(path: Path) -> int:
    return len(gzip.compress(path.read_bytes()))
