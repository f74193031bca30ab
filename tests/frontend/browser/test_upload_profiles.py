"""Upload of files: on the set-up page, by dropping them, and by the command palette.

The server has all of its endpoints.
"""

import base64
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.frontend.browser.axe import violations
from tests.ingest.formats.imported import SAMPLES
from tests.paths import SAMPLES as PROFILES
from tests.server import PASSWORD, running_server

EMAIL = "alice@example.org"
GO_CPU = PROFILES / "go-cpu.pb.gz"


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    with running_server() as server:
        tenant = server.add_tenant("Acme Shop", EMAIL)
        imported = httpx.post(
            f"{server.url}/api/v1/projects/-/profiles:import",
            params={"service": "production", "type": "CPU", "unit": "milliseconds"},
            content="main.main;main.work 30\n",
            headers={"Authorization": f"Bearer {tenant.write}"},
        )
        assert imported.status_code == 200, imported.text
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
    imported = form.locator("#waiting")
    expect(imported.get_by_role("heading", name="Profiles imported")).to_be_visible()
    expect(imported).to_contain_text("shop")
    expect(result.get_by_role("link", name="Open flame graph")).to_have_count(5)
    expect(result).to_contain_text("Alloc: Open flame graph")
    result.get_by_role("link").first.click()
    expect(form.locator("flame-graph")).to_be_visible()
    expect(form.locator("main")).to_contain_text("com.example · Shop.checkout")


DRAG = """([kind, names, size]) => {
  const transfer = new DataTransfer();
  for (const [name, text] of names) {
    const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    transfer.items.add(new File(size ? [new ArrayBuffer(size)] : [bytes], name));
  }
  const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
  document.querySelector('main').dispatchEvent(new DragEvent(kind, options));
}"""


def drag(page: Page, kind: str, files: dict[str, bytes], size: int = 0) -> None:
    """Dispatch an event of files that are dragged over the page, of `size` bytes if it is given."""
    names = [[name, base64.b64encode(content).decode()] for name, content in files.items()]
    page.evaluate(DRAG, [kind, names, size])


def test_a_file_dropped_on_any_page_is_compared_with_production(form: Page) -> None:
    form.get_by_role("link", name="Agents", exact=True).click()
    expect(form.get_by_role("heading", name="Agents", level=1)).to_be_visible()
    form.wait_for_load_state()
    file = {GO_CPU.name: GO_CPU.read_bytes()}
    drag(form, "dragover", file)
    zone = form.locator("#drop-zone")
    expect(zone).to_be_visible()
    expect(zone).to_contain_text("pprof, JFR, folded stacks, speedscope")
    assert violations(form) == []
    drag(form, "dragleave", file)
    expect(zone).to_be_hidden()
    drag(form, "dragover", file)
    drag(form, "drop", file)
    expect(form.get_by_role("heading", name=GO_CPU.name, exact=True)).to_be_visible()
    expect(form.locator("#functions tbody tr").first).to_be_visible()
    expect(zone).to_be_hidden()
    assert violations(form) == []

    form.locator("summary", has_text="Compare with production").click()
    form.get_by_role("link", name="production, last day").click()
    expect(form.get_by_role("heading", name="Compare", level=1)).to_be_attached()
    expect(form.locator("main")).to_contain_text(GO_CPU.name)
    expect(form.locator("flame-diff")).to_be_visible()


def test_files_that_cannot_be_opened_are_named(form: Page, allowed_errors: list[str]) -> None:
    allowed_errors.append("400 (Bad Request)")
    form.wait_for_load_state()
    two = {"a.folded": b"main 1", "b.folded": b"main 1"}
    drag(form, "drop", two)
    dialog = form.get_by_role("dialog", name="Open a file")
    result = dialog.get_by_role("status")
    expect(result).to_have_text("Open one file at a time; you chose 2.")
    drag(form, "drop", {"large.jfr": b""}, size=17 * 2**20)
    expect(result).to_have_text(
        "large.jfr is larger than 16 MiB, the limit of this server for one file."
    )
    drag(form, "drop", {"package.json": b'{"name": "shop"}'})
    expect(result).to_contain_text("The JSON file is no known profile: speedscope")
    assert violations(form) == []


def test_the_command_palette_opens_a_file(form: Page) -> None:
    form.get_by_role("link", name="Services", exact=True).click()
    expect(form.get_by_role("heading", name="Services", level=1)).to_be_visible()
    form.wait_for_load_state()
    form.keyboard.press("Control+k")
    expect(form.locator("#palette-search")).to_be_focused()
    form.keyboard.type("open a file")
    form.keyboard.press("Enter")
    dialog = form.get_by_role("dialog", name="Open a file")
    expect(dialog.get_by_label("File", exact=True)).to_be_focused()
    form.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    form.get_by_role("link", name="Open a file…").click()
    dialog.get_by_label("File", exact=True).set_input_files(
        {"name": "work.folded", "mimeType": "text/plain", "buffer": b"main;work 3\nmain 1\n"}
    )
    expect(dialog.get_by_label("Title")).to_have_value("work.folded")
    dialog.get_by_role("button", name="Open", exact=True).click()
    expect(form.get_by_role("heading", name="work.folded", exact=True)).to_be_visible()
    expect(form.locator("#functions")).to_contain_text("work")


def test_a_file_is_dropped_on_the_page_with_the_form(form: Page) -> None:
    form.get_by_role("link", name="Saved").click()
    expect(form.get_by_role("heading", name="Open a file")).to_be_visible()
    form.wait_for_load_state()
    drag(form, "drop", {"work.folded": b"main;work 3\nmain 1\n"})
    expect(form.get_by_role("heading", name="work.folded", exact=True)).to_be_visible()


def test_a_chosen_file_with_several_types_lists_them(form: Page) -> None:
    form.get_by_role("link", name="Saved").click()
    form.get_by_label("File", exact=True).set_input_files(SAMPLES / "async-profiler-4.jfr.gz")
    expect(form.get_by_label("Title")).to_have_value("async-profiler-4.jfr.gz")
    form.get_by_role("button", name="Open", exact=True).click()
    result = form.locator("#open-file [data-result]")
    expect(result.get_by_role("link", name="Open flame graph")).to_have_count(5)
    result.get_by_role("link").first.click()
    expect(form.get_by_role("heading", name="async-profiler-4.jfr.gz", exact=True)).to_be_visible()


def test_failed_upload_shows_the_reason(form: Page, allowed_errors: list[str]) -> None:
    allowed_errors.append("400 (Bad Request)")
    form.get_by_label("File", exact=True).set_input_files(SAMPLES / "py-spy.raw")
    form.get_by_label("Service", exact=True).fill("My Shop")
    form.get_by_role("button", name="Upload profiles").click()
    expect(form.locator("#upload [data-result]")).to_contain_text("use my-shop")
