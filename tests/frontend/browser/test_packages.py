"""Packages of frames in a browser: their shares, colours and names, the same in every view."""

import re
from collections.abc import Mapping

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Position, expect

from projects.models import Project
from tests.frontend import shop
from tests.frontend.browser.flame_page import ROW, box, colour_of, drawn, middle, option, view

_GO = "/usr/local/go/src"
_MODULES = "/go/pkg/mod"
_SERVE = ("net/http.(*conn).serve", f"{_GO}/net/http/server.go")
_HANDLE = ("acme.dev/shop/orders.(*Handler).ServeHTTP", "/src/shop/orders/handler.go")
_SMITHY = "github.com/aws/smithy-go"
TOKEN = (f"{_SMITHY}/encoding/xml.(*Decoder).Token", f"{_MODULES}/{_SMITHY}@v1.20.1/xml/x.go")
_MALLOC = ("runtime.mallocgc", f"{_GO}/runtime/malloc.go")
_MOVE = ("runtime.memmove", f"{_GO}/runtime/memmove_amd64.s")
_LIBC = ("libc.so.6+0x29d90", "")

STACKS: shop.FrameStacks = {  # microseconds
    (_SERVE, _HANDLE): 100_000,
    (_SERVE, _HANDLE, TOKEN): 300_000,
    (_SERVE, _HANDLE, TOKEN, _MALLOC): 400_000,
    (_SERVE, _HANDLE, _MOVE): 100_000,
    (_SERVE, _LIBC): 100_000,
}
SHARES = {
    "shop/orders": "10%",
    "smithy-go/encoding/xml": "30%",
    "runtime": "50%",
    "net/http": "0",
    "libc.so.6": "10%",
}


@pytest.fixture
def go_url(project: Project, url: str) -> str:
    """Return the URL of the flame page, with three profiles of a Go service stored."""
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 3), STACKS)
    return url


def legend(page: Page) -> Mapping[str, tuple[str, str]]:
    """Return the share and the colour of each package."""
    drawn(page)
    found = page.locator("#legend li:has(.sw)").evaluate_all(
        """items => items.map((item) => [
            item.querySelector('b').textContent,
            item.lastChild.textContent,
            getComputedStyle(item.querySelector('.sw')).backgroundColor,
        ])"""
    )
    return {name: (share, colour) for name, share, colour in found}


@pytest.mark.parametrize(
    "shown",
    [
        "",
        "view=bottomup",
        f"focus={TOKEN[0]}",
        "search=Token",
        "recursion=folded",
        "order=name",
        "flip=bottom",
    ],
)
def test_shares_and_colours_are_the_same_in_every_view(page: Page, go_url: str, shown: str) -> None:
    page.goto(go_url)
    first = legend(page)
    assert {name: share for name, (share, _) in first.items()} == SHARES
    assert len({colour for _, colour in first.values()}) == len(SHARES)
    page.goto(f"{go_url}?{shown}")
    assert legend(page) == first
    if "search" not in shown:  # matches have a colour of their own
        assert colour_of(page, TOKEN[0]) == first["smithy-go/encoding/xml"][1]
        assert colour_of(page, _MALLOC[0]) == first["runtime"][1]
    # the list has only what the search matches
    listed = {"Token": "smithy-go/encoding/xml"}
    if "search" not in shown:
        listed["mallocgc"] = "runtime"
    for name, package in listed.items():
        mark = page.locator("#functions a.fn", has_text=name).locator(".sw")
        expect(mark).to_have_css("background-color", first[package][1])


def test_the_largest_package_is_first(page: Page, go_url: str) -> None:
    page.goto(go_url)
    assert next(iter(legend(page))) == "runtime"


def test_packages_that_share_a_colour_are_one_entry_and_all_are_in_the_menu(
    page: Page, url: str, project: Project
) -> None:
    site = "/usr/lib/python3/site-packages"
    serve = ("serve", f"{site}/server/serve.py")
    stacks: dict[tuple[tuple[str, str], ...], int]
    stacks = {(serve, (f"f{i}", f"{site}/library{i}/part.py")): 1000 * (i + 1) for i in range(20)}
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 3), stacks)
    page.goto(url)
    found = legend(page)
    assert len(found) == 9
    others = found["Other libraries"]
    rest = page.locator("#legend li", has_text="Other libraries").locator(".sw.p-librest")
    expect(rest).to_have_count(1)
    assert others[1] == colour_of(page, "f0")
    page.locator("#all-packages summary", has_text="All 21 packages").click()
    listed = page.locator("#all-packages li")
    expect(listed).to_have_count(21)
    expect(listed.first).to_have_text("library199.5%")


def test_functions_without_a_file_are_of_an_unknown_package(
    page: Page, url: str, project: Project
) -> None:
    stacks: dict[tuple[tuple[str, str], ...], int]
    stacks = {(("main", ""), ("work", "")): 1000, (("main", ""), ("rest", "")): 500}
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 3), stacks)
    page.goto(url)
    assert {name: share for name, (share, _) in legend(page).items()} == {"Unknown package": "100%"}
    expect(page.locator("#all-packages summary")).to_have_text("1 package")


def test_zooming_and_opening_a_node_keep_the_shares(page: Page, go_url: str) -> None:
    page.goto(go_url)
    first = legend(page)
    view(page).click(position=middle(box(page, TOKEN[0])))
    expect(page).to_have_url(re.compile("frame="))
    assert legend(page) == first
    node = re.search(r"frame=(\w+)", page.url)
    assert node
    page.goto(f"{go_url}?root={node[1]}")
    expect(page.locator("#rooted")).to_be_visible()
    assert legend(page) == first


def test_filters_change_the_shares(page: Page, go_url: str) -> None:
    page.goto(f"{go_url}?f=hide:libc")
    assert "libc.so.6" not in legend(page)
    assert legend(page)["runtime"][0] == "55.6%"


def test_list_view_has_the_colours_of_the_graph(page: Page, go_url: str) -> None:
    page.goto(go_url)
    first = legend(page)
    page.goto(f"{go_url}?view=list")
    mark = page.locator("#functions a.fn", has_text="mallocgc").locator(".sw")
    expect(mark).to_have_css("background-color", first["runtime"][1])


def test_labels_are_short_and_names_are_whole(page: Page, go_url: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(go_url)
    labels = [found["label"] for found in drawn(page)]
    assert labels[:4] == [
        "checkout, 1 s, 100%",
        "net/http · (*conn).serve",
        "shop/orders · (*Handler).ServeHTTP",
        "libc.so.6+0x29d90",
    ]
    assert "smithy-go/encoding/xml · (*Decoder).Token" in labels
    row = page.locator("#functions a.fn").filter(has_text="Token")
    expect(row).to_have_text(re.compile(r"^\s*smithy-go/encoding/xml\s·\s\(\*Decoder\)\.Token\s*$"))
    view(page).click(position=middle(box(page, TOKEN[0])))
    expect(page.locator("#crumbs .here")).to_have_text("smithy-go/encoding/xml · (*Decoder).Token")
    expect(page.locator("#graph .tip header b")).to_have_text(TOKEN[0])
    view(page).focus()
    page.keyboard.press("c")
    expect(page.locator("#said")).to_contain_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == TOKEN[0]
    page.locator("#search").fill(_SMITHY)
    expect(page.locator("#found")).to_contain_text("1 match")
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Image of this view").click()
    picture = download.value.path().read_text()
    assert f"<title>{TOKEN[0]}</title>" in picture
    assert ">smithy-go/encoding/xml · (*Decoder).Token</text>" in picture


def test_a_graph_is_flipped_and_back(page: Page, go_url: str) -> None:
    page.goto(go_url)
    assert box(page, _SERVE[0])["row"] == 1
    option(page, "Flip graph").check()
    expect(page).to_have_url(re.compile("flip=bottom"))
    height = view(page).bounding_box()
    assert height
    rows = int(height["height"] / ROW)

    def at(row: int) -> Position:
        return {"x": 40, "y": (rows - 1 - row) * ROW + ROW / 2}

    tip = page.locator("#graph .tip header b")
    view(page).hover(position=at(0))
    expect(tip).to_have_text("checkout")
    view(page).hover(position=at(2))
    expect(tip).to_have_text(_HANDLE[0])
    view(page).click(position=at(3))
    expect(page.locator("#crumbs .here")).to_contain_text("Token")
    page.reload()
    expect(page.locator("#crumbs .here")).to_contain_text("Token")
    expect(page.get_by_label("Flip graph")).to_be_checked()
    page.go_back()
    expect(page.locator("#crumbs .here")).to_have_text("checkout")
    page.go_back()
    expect(page).not_to_have_url(re.compile("flip="))
    expect(page.get_by_label("Flip graph")).not_to_be_checked()


def test_keys_go_up_to_callees_in_a_flipped_graph(page: Page, go_url: str) -> None:
    page.goto(go_url)
    drawn(page)
    view(page).focus()
    page.keyboard.press("v")
    expect(page).to_have_url(re.compile("flip=bottom"))
    view(page).focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.locator("#graph [aria-live]")).to_contain_text(_HANDLE[0])
    mark = page.locator("#graph .mark").bounding_box()
    graph = view(page).bounding_box()
    assert mark
    assert graph
    assert graph["y"] + graph["height"] - mark["y"] == pytest.approx(3 * ROW, abs=2)
    page.keyboard.press("v")
    expect(page).not_to_have_url(re.compile("flip="))


def test_a_flipped_graph_shows_its_root_and_its_matches(
    page: Page, url: str, project: Project
) -> None:
    stack = tuple((f"shop.f{i}", "/app/shop/deep.py") for i in range(80))
    stacks: shop.FrameStacks = {stack: 300_000, stack[:60]: 100_000}
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 2), stacks)
    page.goto(f"{url}?flip=bottom")
    drawn(page)
    rows = "graph => graph.boxes.map((box) => box.row)"
    graph = page.locator("#graph")
    assert min(graph.evaluate(rows)) == 0
    seen = graph.evaluate(
        """graph => {
            const [view, window] = [graph.view, graph].map((one) => one.getBoundingClientRect());
            return view.bottom <= window.bottom + 1;
        }"""
    )
    assert seen, "the root is scrolled out"
    page.locator("#search").fill("shop.f70")
    expect(page.locator("#found")).to_contain_text("1 match")
    page.keyboard.press("Enter")
    expect(page.locator("#frame-bar [data-bar=name]")).to_have_text("shop.f70")
    expect(page.locator("#graph .mark")).to_be_visible()
    mark = page.locator("#graph .mark").bounding_box()
    window = graph.bounding_box()
    assert mark
    assert window
    assert window["y"] - 2 <= mark["y"] <= window["y"] + window["height"]
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Image of this view").click()
    picture = download.value.path().read_text()
    box_at_the_left = r"<title>(\S+?)(?:,[^<]*)?</title><rect x=\"0.00\" y=\"(\d+)\""
    tops = dict(re.findall(box_at_the_left, picture))
    assert (tops["checkout"], tops["shop.f0"]) == (str(80 * ROW), str(79 * ROW))


def test_a_sandwich_is_not_flipped(page: Page, go_url: str) -> None:
    page.goto(f"{go_url}?focus={TOKEN[0]}&flip=bottom")
    drawn(page)
    expect(page.get_by_label("Flip graph")).to_have_count(0)
    callers = page.locator("#callers canvas").bounding_box()
    callees = page.locator("#graph canvas").bounding_box()
    assert callers
    assert callees
    assert callers["y"] < callees["y"]
    assert not page.locator("#graph").evaluate("graph => graph.flip")
