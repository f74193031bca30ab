"""Page that makes an image of a flame graph for other sites, on a server with all endpoints."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.frontend.browser import axe
from tests.server import PASSWORD, running_server

EMAIL = "alice@example.org"
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
        yield server.url


@pytest.fixture
def flame(page: Page, server_url: str) -> Page:
    page.goto(f"{server_url}/account/login/?next=/p/acme-shop/flame%3Fservice=shop%26type=CPU")
    page.get_by_label("E-mail").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("flame-graph")).to_be_visible()
    return page


def test_an_image_is_made_shown_and_revoked(
    flame: Page, server_url: str, allowed_errors: list[str]
) -> None:
    flame.locator("summary", has_text="Download").click()
    flame.get_by_role("link", name="Embed…").click()
    expect(flame.get_by_role("heading", name="Embed", level=1)).to_be_visible()
    assert axe.violations(flame) == []
    flame.get_by_label("Expires after").select_option("7 days")
    flame.get_by_label("Width in pixels").fill("700")
    flame.get_by_role("button", name="Create image URL").click()

    made = flame.get_by_role("region", name="Image URL created")
    image = made.get_by_role("img", name="Flame graph of shop")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 700
    assert axe.violations(flame) == []
    assert made.locator("#embed-html").inner_text().endswith('alt="Flame graph of shop"></a>')
    path = str(image.get_attribute("src"))
    assert path in made.locator("#embed-url").inner_text()
    assert "[![Flame graph of shop](" in made.locator("#embed-markdown").inner_text()
    without_session = httpx.get(f"{server_url}{path}")
    assert without_session.status_code == 200
    assert ">execute<" in without_session.text

    flame.get_by_role("button", name="Revoke all images").click()
    expect(flame.locator(".toast")).to_contain_text("revoked")
    assert httpx.get(f"{server_url}{path}").status_code == 404
