"""Images of a flame graph for other sites: dialog and page, on a server with all endpoints."""

from collections.abc import Iterator
from typing import Literal
from urllib.parse import urljoin
from xml.etree import ElementTree

import httpx
import pytest
from PIL import ImageColor
from playwright.sync_api import Browser, Locator, Page, expect

from frontend.pages.embed.theme import MORE
from tests.frontend import shop
from tests.frontend.browser import axe
from tests.frontend.browser.flame_page import colour_of, drawn
from tests.server import PASSWORD, running_server

_MODULES = "/go/pkg/mod/github.com/aws"
_TOKEN = "github.com/aws/smithy-go/encoding/xml.(*Decoder).Token"
PACKAGES: shop.FrameStacks = {  # microseconds
    (("net/http.(*conn).serve", "/usr/local/go/src/net/http/server.go"),): 50_000,
    (("acme.dev/shop/orders.(*Handler).ServeHTTP", "/src/shop/orders/handler.go"),): 100_000,
    ((_TOKEN, f"{_MODULES}/smithy-go@v1.20.1/xml/x.go"), ("memcpy", "")): 300_000,
    (("reflect.growslice", "runtime/slice.go"),): 200_000,
    (("orders.place", "/app/shop/checkout/orders.py"),): 90_000,
    (("Cursor.execute", "/x/site-packages/psycopg/cursor.py"),): 80_000,
    (("checkout", "/app/node_modules/@acme/cart/index.mjs"),): 70_000,
    (("com.acme.billing.Invoice.total", "Invoice.java"),): 60_000,
    (("do_syscall_64", "[kernel.kallsyms]"),): 40_000,
    **{((f"f{i}", f"/app/own_{i}/views.py"),): 30_000 - i for i in range(6)},
}
EMAIL = "alice@example.org"
SVG = "{http://www.w3.org/2000/svg}"
STACKS = "main;serve;render 60\nmain;serve;query;execute 90\nmain;collect 30\n"


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with running_server() as server:
        tenant = server.add_tenant("Acme Shop", EMAIL)
        imported = httpx.post(
            f"{server.url}/api/v1/projects/-/profiles:import",
            params={"service": "shop", "version": "1.4", "type": "CPU", "unit": "milliseconds"},
            content=STACKS,
            headers={"Authorization": f"Bearer {tenant.write}"},
        )
        assert imported.status_code in {200, 201}, imported.text
        packages = httpx.post(
            f"{server.url}/api/v1/projects/-/profiles:import",
            params={"service": "packages", "type": "CPU"},
            content=shop.pprof(PACKAGES, (("cpu", "microseconds"),)),
            headers={"Authorization": f"Bearer {tenant.write}"},
        )
        assert packages.status_code in {200, 201}, packages.text
        yield server.url


@pytest.fixture
def flame(page: Page, server_url: str) -> Page:
    page.goto(f"{server_url}/account/login/?next=/p/acme-shop/flame%3Fservice=shop%26type=CPU")
    page.get_by_label("E-mail").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("flame-graph")).to_be_visible()
    return page


def open_dialog(flame: Page) -> Locator:
    flame.wait_for_load_state()  # before its scripts have run, the link opens a page
    flame.locator("summary", has_text="Share").click()
    flame.get_by_role("link", name="Embed…").click()
    dialog = flame.get_by_role("dialog", name="Embed")
    expect(dialog).to_be_visible()
    return dialog


def shown_width(made: Locator) -> list[int]:
    """Return the width of the preview, and that of its image, in pixels."""
    image = made.get_by_role("img", name="Flame graph of shop")
    expect(image).to_be_visible()
    width: list[int] = image.evaluate(
        "image => image.decode().then(() => [image.width, image.naturalWidth])"
    )
    return width


def test_an_image_is_made_in_a_dialog_and_revoked(flame: Page, server_url: str) -> None:
    address = flame.url
    dialog = open_dialog(flame)
    assert axe.violations(flame) == []
    dialog.get_by_label("Image format").select_option("PNG, 2× scale")
    dialog.get_by_label("Expires after").select_option("7 days")
    dialog.get_by_label("Width in pixels").fill("500")
    dialog.get_by_role("button", name="Create image URL").click()

    made = dialog.get_by_role("region", name="Image URL created")
    expect(made.get_by_role("heading", name="Image URL created")).to_be_focused()
    assert shown_width(made) == [500, 1000]
    assert axe.violations(flame) == []
    assert flame.url == address
    path = str(made.get_by_role("img").get_attribute("src"))
    assert path in made.locator("#embed-url").inner_text()
    html, markdown = made.locator("#embed-html"), made.locator("#embed-markdown")
    assert html.inner_text().endswith('width="500" alt="Flame graph of shop"></a>')
    assert "[![Flame graph of shop](" in markdown.inner_text()
    without_session = httpx.get(f"{server_url}{path}")
    assert without_session.status_code == 200
    assert without_session.content.startswith(b"\x89PNG")

    dialog.get_by_role("button", name="Revoke all images").click()
    expect(dialog.get_by_role("status")).to_contain_text("revoked")
    assert httpx.get(f"{server_url}{path}").status_code == 404


def test_comparison_is_embedded_in_a_dialog(flame: Page, server_url: str) -> None:
    selection = "service=shop&type=CPU&span=1h&version=1.4&b.version=1.3"
    flame.goto(f"{server_url}/p/acme-shop/compare?{selection}")
    dialog = open_dialog(flame)
    assert axe.violations(flame) == []
    dialog.get_by_role("button", name="Create image URL").click()
    made = dialog.get_by_role("region", name="Image URL created")
    image = made.get_by_role("img", name="Comparison of shop")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1200
    drawing = ElementTree.fromstring(
        httpx.get(urljoin(server_url, str(image.get_attribute("src")))).text
    )
    titles = {
        str(box.findtext(f"{SVG}title")): rect.get("fill")
        for box in drawing.iter(f"{SVG}g")
        for rect in box.iter(f"{SVG}rect")
    }
    assert titles["serve 0 → 150 ms (+150 ms)"] == MORE  # the baseline has no profiles
    flame.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(flame.locator("flame-diff")).to_be_visible()


def test_copy_buttons_copy_url_markdown_and_html(flame: Page) -> None:
    flame.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialog = open_dialog(flame)
    dialog.get_by_role("button", name="Create image URL").click()
    for name in ("url", "markdown", "html"):
        text = dialog.locator(f"#embed-{name}")
        dialog.locator(f"[data-copy=embed-{name}]").click()
        expect(dialog.locator(f"[data-copy=embed-{name}]")).to_have_text("Copied")
        assert flame.evaluate("navigator.clipboard.readText()") == text.inner_text()


def test_escape_closes_the_dialog_and_returns_the_focus(flame: Page) -> None:
    dialog = open_dialog(flame)
    flame.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(flame.locator("summary", has_text="Share")).to_be_focused()


def test_the_command_palette_opens_the_dialog(flame: Page) -> None:
    flame.wait_for_load_state()
    flame.keyboard.press("Control+k")
    expect(flame.locator("#palette-search")).to_be_focused()
    flame.keyboard.type("embed")
    flame.keyboard.press("Enter")
    expect(flame.get_by_role("dialog", name="Embed")).to_be_visible()


def test_without_scripts_the_page_makes_an_image(browser: Browser, flame: Page) -> None:
    context = browser.new_context(
        java_script_enabled=False, storage_state=flame.context.storage_state()
    )
    page = context.new_page()
    page.goto(flame.url)
    page.get_by_role("link", name="Embed…").click()
    expect(page.get_by_role("heading", name="Embed", level=1)).to_be_visible()
    page.get_by_label("Width in pixels").fill("700")
    page.get_by_role("button", name="Create image URL").click()
    made = page.get_by_role("region", name="Image URL created")
    assert shown_width(made) == [700, 700]
    page.get_by_role("button", name="Revoke all images").click()
    expect(page.locator(".toast")).to_contain_text("revoked")
    assert "service=shop" in page.url
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", ["", "&view=bottomup", "&f=highlight:orders"])
def test_frames_have_the_colours_of_the_flame_page(
    theme: Literal["light", "dark"], view: str, flame: Page
) -> None:
    flame.emulate_media(color_scheme=theme)
    flame.goto(f"{flame.url.partition('?')[0]}?service=packages&type=CPU{view}")
    shown = {box["name"]: colour_of(flame, box["name"]) for box in drawn(flame) if box["row"]}
    dialog = open_dialog(flame)
    dialog.get_by_label("Theme").select_option(theme.capitalize())
    dialog.get_by_label("Width in pixels").fill("2000")
    dialog.get_by_role("button", name="Create image URL").click()
    image = dialog.get_by_role("img", name="Flame graph of packages")
    path = str(image.get_attribute("src"))
    embedded = {
        name: fill
        for box in ElementTree.fromstring(httpx.get(urljoin(flame.url, path)).text).iter(f"{SVG}g")
        for name, fill in [(title_of(box), box[1].get("fill", ""))]
    }
    assert len(embedded) == 16
    assert {name: f"rgb{ImageColor.getrgb(fill)}" for name, fill in embedded.items()} == shown


def title_of(box: ElementTree.Element) -> str:
    """Return the name in a box's title, without the share."""
    return str(box.findtext(f"{SVG}title")).rpartition(" ")[0].rpartition(" ")[0]
