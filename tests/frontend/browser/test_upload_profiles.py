"""Upload form of the set-up page, on a server with all of its endpoints."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.frontend.browser.axe import violations
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


DROP = """([name, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name));
  const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
  document.querySelector('main').dispatchEvent(new DragEvent('dragover', options));
  document.querySelector('main').dispatchEvent(new DragEvent('drop', options));
}"""


def test_a_dropped_file_opens_as_a_flame_graph(form: Page) -> None:
    form.get_by_role("link", name="Saved").click()
    expect(form.get_by_role("heading", name="Open a file")).to_be_visible()
    form.wait_for_load_state()
    form.evaluate(DROP, ["work.folded", "main;work 3\nmain 1\n"])
    expect(form.get_by_role("heading", name="work.folded", exact=True)).to_be_visible()
    expect(form.locator("#functions")).to_contain_text("work")
    assert violations(form) == []


def test_a_chosen_file_with_several_types_lists_them(form: Page) -> None:
    form.get_by_role("link", name="Saved").click()
    form.get_by_label("File", exact=True).set_input_files(SAMPLES / "async-profiler-4.jfr.gz")
    expect(form.get_by_label("Title")).to_have_value("async-profiler-4.jfr.gz")
    form.get_by_role("button", name="Open", exact=True).click()
    result = form.locator("#open-file [data-result]")
    expect(result.get_by_role("link", name="Open flame graph")).to_have_count(5)
    result.get_by_role("link").first.click()
    expect(form.get_by_role("heading", name="async-profiler-4.jfr.gz", exact=True)).to_be_visible()


def test_the_reason_of_an_error_is_shown(form: Page, allowed_errors: list[str]) -> None:
    allowed_errors.append("400 (Bad Request)")
    form.get_by_label("File", exact=True).set_input_files(SAMPLES / "py-spy.raw")
    form.get_by_label("Service", exact=True).fill("My Shop")
    form.get_by_role("button", name="Upload profiles").click()
    expect(form.locator("#upload [data-result]")).to_contain_text("use my-shop")
