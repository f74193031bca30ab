"""Embedded comparisons: their sides, widths and colours."""

import time
from xml.etree import ElementTree

import pytest

from frontend.pages.embed.theme import LESS, MORE, TOKENS
from projects.credentials import embed_tokens
from projects.models import Project
from tests.ingest.client import Client
from tests.profiles import rows

pytestmark = [pytest.mark.one_database, pytest.mark.django_db(transaction=True)]
HOUR = "service=shop&type=CPU&from=2026-11-20T12:00:00Z&to=2026-11-20T13:00:00Z"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def versions(project: Project) -> None:
    """Store two profiles of an old version, and one of a new one, which is slower in `quote`."""
    old = {"main": 1000, "main;quote": 2000, "main;gone": 1000, "main;less": 4000}
    new = {"main": 1000, "main;quote": 4000, "main;added": 2000, "main;less": 1000}
    for minutes in range(2):
        rows.stored(rows.deployment(project, version="1"), old, minutes=minutes)
    rows.stored(rows.deployment(project, version="2"), new, minutes=2)


def get(project: Project, query: str, parameters: str = "") -> ElementTree.Element:
    token = embed_tokens.sign(project, query, int(time.time()) + 60, embed_tokens.COMPARE)
    response = Client("").request("GET", f"/embed/{token}.svg{parameters}")
    assert response.status_code == 200, response.text
    return ElementTree.fromstring(response.text)


def find_title(root: ElementTree.Element) -> str:
    return str(root.findtext(f"{SVG}title"))


def boxes(root: ElementTree.Element) -> dict[str, tuple[float, str, str]]:
    """Return the width, the colour and the values of the box of each function."""
    found = {}
    for box in root.iter(f"{SVG}g"):
        name, _, values = str(box.findtext(f"{SVG}title")).partition(" ")
        rect = box.find(f"{SVG}rect")
        assert rect is not None
        found[name] = (float(rect.get("width", "")), rect.get("fill", ""), values)
    return found


VERSIONS = f"{HOUR}&version=2&b.version=1"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_frames_have_the_mean_width_and_the_colour_of_their_change(
    theme: str, project: Project
) -> None:
    root = get(project, VERSIONS, f"?width=802&theme={theme}")
    found = boxes(root)
    same = TOKENS["same"][theme == "dark"]
    assert found == {
        "main": (801, same, "8 ms → 8 ms (0)"),
        "quote": (299.75, found["quote"][1], "2 ms → 4 ms (+2 ms)"),
        "less": (249.62, LESS, "4 ms → 1 ms (-3 ms)"),
        "added": (99.25, MORE, "0 → 2 ms (+2 ms)"),
        "gone": (49.12, LESS, "1 ms → 0 (-1 ms)"),
    }
    # Half of the larger side of 0.6: five sixths of the way from grey to the full colour.
    mixed = {"light": "#f0ad71", "dark": "#d9955a"}
    assert found["quote"][1] == mixed[theme]
    assert find_title(root) == (
        "shop · CPU time · 8 ms → 8 ms per profile"
        " · 2026-11-20 12:00 – 13:00 UTC 1 → 2026-11-20 12:00 – 13:00 UTC 2"
    )


def test_baseline_without_overrides_is_the_range_before(project: Project) -> None:
    root = get(project, HOUR.replace("12:00:00", "12:02:00").replace("13:00:00", "12:04:00"))
    assert find_title(root).endswith(
        "per profile · 2026-11-20 12:00 – 12:02 UTC → 2026-11-20 12:02 – 12:04 UTC"
    )
    assert boxes(root)["less"][2] == "4 ms → 1 ms (-3 ms)"


def test_filter_of_the_query_restricts_both_sides(project: Project) -> None:
    root = get(project, f"{VERSIONS}&f=show:quote")
    assert set(boxes(root)) == {"main", "quote"}
    assert "CPU time · show:quote · 2 ms → 4 ms per profile" in find_title(root)


def test_side_without_profiles_has_no_average(project: Project) -> None:
    root = get(project, f"{HOUR}&version=2&b.version=9")
    assert "per profile" not in find_title(root)
    assert boxes(root)["quote"][1:] == (MORE, "0 → 4 ms (+4 ms)")


def test_query_without_a_service_is_404(project: Project) -> None:
    token = embed_tokens.sign(project, "span=1h", int(time.time()) + 60, embed_tokens.COMPARE)
    assert Client("").request("GET", f"/embed/{token}.png").status_code == 404
