"""Measure the time from a click to the first picture of 1,440 merged profiles.

Uses a real server and a real Chromium. The page request merges the profiles; the tree request,
which follows at once, reuses its result. Nothing else is cached between pages, and each page is
opened in a new browser context. Figures are medians.
"""

import statistics
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.table import Figure, show
from tests import services
from tests.server import PASSWORD, RunningServer, running_server

OPENED = 7  # pages; the first one is not counted, because it fills the server's caches
OWNER = "alice@example.org"
SPAN = timedelta(hours=6)
# Stores the time just after the picture was on the screen.
_PAINTED = """addEventListener('flame-load', () => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => performance.mark('painted');
  port2.postMessage(0);
}));"""
_TIMES = """() => {
  const [page] = performance.getEntriesByType('navigation');
  const fetched = performance.getEntriesByType('resource');
  const tree = fetched.find(({ name }) => name.includes('/flame/tree'));
  const mark = (name) => performance.getEntriesByName(name)[0].startTime;
  return {
    query: page.responseStart - page.requestStart,
    page: tree.fetchStart - page.responseStart,
    encode: tree.responseStart - tree.requestStart,
    transfer: tree.responseEnd - tree.responseStart,
    decode: mark('flame-decoded') - tree.responseEnd,
    draw: mark('painted') - mark('flame-decoded'),
    whole: mark('painted'),
    size: tree.encodedBodySize / 1e3,
  };
}"""
_NAMES = {
    "query": "query: the page's response begins",
    "page": "page: it is read, with its scripts",
    "encode": "encode: the tree's response begins",
    "transfer": "transfer of the tree",
    "decode": "decode",
    "draw": "draw, until it is on the screen",
    "whole": "whole, from the click",
}


def main() -> int:
    end = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    with running_server() as server:
        project = server.add_project(email=OWNER)
        filling = [sys.executable, "-m", "benchmarks.six_hours", project, end.isoformat()]
        subprocess.run(filling, env=server.environment, check=True)
        times = _measured(server, project, end)
    size = f"{times.pop('size'):.0f} kB on the wire"
    figures = [
        Figure(_NAMES[name], value, "ms", peer=size if name == "transfer" else "")
        for name, value in times.items()
    ]
    return 0 if show("First picture of 1,440 profiles of shape A", figures) else 1


def _measured(server: RunningServer, project: str, end: datetime) -> dict[str, float]:
    params = {"service": "shop", "type": "CPU", "from": (end - SPAN).isoformat()}
    # Each opening has another range, so that its sums are in no cache.
    ends = [(end - timedelta(seconds=number)).isoformat() for number in range(OPENED)]
    addresses = [f"/p/{project}/flame?{urlencode(params | {'to': each})}" for each in ends]
    with sync_playwright() as playwright:
        path = services.find("chromium")
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        found = [_opened(browser, server.url, address) for address in addresses][1:]
        browser.close()
    return {name: statistics.median(each[name] for each in found) for name in found[0]}


def _opened(browser: Browser, url: str, address: str) -> dict[str, float]:
    """Open the page in a new browser context, whose cache has only the sign-in page."""
    context = browser.new_context(base_url=url, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    _sign_in(page)
    page.add_init_script(_PAINTED)
    page.goto(address)
    page.wait_for_function("() => performance.getEntriesByName('painted').length > 0")
    times: dict[str, float] = page.evaluate(_TIMES)
    context.close()
    return times


def _sign_in(page: Page) -> None:
    page.goto("/account/login/")
    page.get_by_label("E-mail").fill(OWNER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/services")


if __name__ == "__main__":
    sys.exit(main())
