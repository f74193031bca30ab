"""Upload form of the set-up page, on a server with all of its endpoints."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.ingest.formats.imported import SAMPLES
from tests.server import PASSWORD, running_server

EMAIL = "alice@example.org"


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with running_server() as server:
        server.add_project("Acme Shop", EMAIL)
        yield server.url


@pytest.fixture
def form(page: Page, server_url: str) -> Page:
    page.goto(f"{server_url}/account/login/?next=/p/acme-shop/setup")
    page.get_by_label("E-mail").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Upload profiles")).to_be_visible()
    return page


def test_a_recording_is_uploaded_and_its_flame_graphs_open(form: Page) -> None:
    form.get_by_label("File", exact=True).set_input_files(SAMPLES / "async-profiler-4.jfr.gz")
    form.get_by_label("Service", exact=True).fill("shop")
    form.get_by_role("button", name="Upload profiles").click()
    result = form.locator("#upload [data-result]")
    expect(result.get_by_role("link", name="Open flame graph")).to_have_count(5)
    expect(result).to_contain_text("Alloc: Open flame graph")
    result.get_by_role("link").first.click()
    expect(form.locator("flame-graph")).to_be_visible()
    expect(form.locator("main")).to_contain_text("com.example.Shop")


def test_the_reason_of_an_error_is_shown(form: Page, allowed_errors: list[str]) -> None:
    allowed_errors.append("400 (Bad Request)")
    form.get_by_label("File", exact=True).set_input_files(SAMPLES / "py-spy.raw")
    form.get_by_label("Service", exact=True).fill("My Shop")
    form.get_by_role("button", name="Upload profiles").click()
    expect(form.locator("#upload [data-result]")).to_contain_text("use my-shop")
