"""Size of the scripts that each page loads."""

import gzip
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from django.test import Client

from projects.models import Project, User
from tests.frontend.every_page import PAGES
from tests.paths import STATIC

pytestmark = pytest.mark.django_db
LIMIT = 125_000  # bytes, compressed
LOADED = re.compile(r'<script src="/static/([^"]+)"')
# Imports of a module, of its workers and of lazily loaded modules: each is a quoted path.
NAMED = re.compile(r"""(?:from|import|import\(|new URL\()\s*['"](\.{1,2}/[^'"]+\.js)['"]""")


@pytest.fixture
def loaded(alice: User, project: Project) -> dict[str, set[Path]]:
    """Return the scripts of each page with everything that they import."""
    member, stranger = Client(), Client()
    member.force_login(alice)
    found = {}
    for shown in PAGES:
        response = (stranger if shown.stranger else member).get(shown.address)
        found[str(shown)] = _with_imports(_scripts(response.content.decode()))
    return found


def test_no_page_loads_more_than_125_kb_of_scripts(loaded: dict[str, set[Path]]) -> None:
    weights = {name: sum(map(_weight, scripts)) for name, scripts in loaded.items()}
    assert weights["flame"] > weights["services"] > 10_000
    assert {name: weight for name, weight in weights.items() if weight > LIMIT} == {}


def test_every_script_is_some_pages(loaded: dict[str, set[Path]]) -> None:
    """Check that some page loads each script, so that the sums above miss none."""
    assert set(STATIC.rglob("*.js")) - set().union(*loaded.values()) == set()


def _scripts(html: str) -> Iterator[Path]:
    return (STATIC / name for name in LOADED.findall(html))


def _with_imports(scripts: Iterable[Path]) -> set[Path]:
    found: set[Path] = set()
    open_ = list(scripts)
    while open_:
        path = open_.pop()
        if path in found:
            continue
        found.add(path)
        open_ += [(path.parent / name).resolve() for name in NAMED.findall(path.read_text())]
    return found


def _weight(path: Path) -> int:
    return len(gzip.compress(path.read_bytes()))
