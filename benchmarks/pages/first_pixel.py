"""Measure the time from a click to the picture of the flame page, in six cases.

After a restart the page is the server's first one, and nothing is in the browser's cache, because
the server has another port. 1,800 profiles or 274,000 nodes are merged, each page another range.
A page is opened in a new tab, whose process is new too, or from the list of services in one tab.

Uses a real server and a real Chromium. `python -m benchmarks first_pixel --beside CHECKOUT` also
measures the code of another checkout (with its built extensions) on a copy of the same data, in
alternating turns. Figures are medians.
"""

import argparse
import contextlib
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Playwright,
    ViewportSize,
    sync_playwright,
)

from benchmarks.tools.table import Figure, show
from tests import services
from tests.server import PASSWORD, RunningServer, prepared_data, server_in

ROUNDS = 7
OWNER = "alice@example.org"
SPAN = timedelta(hours=7.5)
# Chromium loads the pages of its own interface for each new tab, in which nobody clicks yet.
SETTLED_MS = 2000
HERE = Path(__file__).parents[2]
# Marks the moment just after the first picture was on the screen, and sums the layout shifts.
_OBSERVED = """
globalThis.shifts = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) globalThis.shifts += entry.value;
}).observe({ type: 'layout-shift', buffered: true });
addEventListener('flame-load', () => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    performance.mark('painted');
    console.debug('painted');
  };
  port2.postMessage(0);
}));"""
_TIMES = """() => {
  const [page] = performance.getEntriesByType('navigation');
  const fetched = performance.getEntriesByType('resource');
  const tree = fetched.find(({ name }) => name.includes('/flame/tree'));
  const mark = (name) => performance.getEntriesByName(name)[0].startTime;
  return {
    document: page.responseStart,
    document_end: page.responseEnd,
    tree_request: tree.requestStart,
    tree_response: tree.responseStart,
    tree_end: tree.responseEnd,
    decoded: mark('flame-decoded'),
    painted: mark('painted'),
    size: tree.encodedBodySize / 1e3,
    shifts: globalThis.shifts,
  };
}"""
_PHASES = {
    "painted": "painted, from the click",
    "document": "… first byte of the document",
    "document_end": "… last byte of the document",
    "tree_request": "… request for the tree",
    "tree_response": "… first byte of the tree",
    "tree_end": "… last byte of the tree",
    "decoded": "… tree decoded",
}
Times = dict[str, float]


@dataclass
class MeasuredCheckout:
    """One checkout with its data folder and the times measured with it, by case."""

    name: str
    checkout: Path
    folder: Path
    cookies: Any = None
    times: dict[str, list[Times]] = field(default_factory=dict)


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks first_pixel")
    parser.add_argument("--beside", type=Path, help="another checkout to measure in turns")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    end = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    with tempfile.TemporaryDirectory(prefix="first-pixel-") as folder:
        project = _filled(Path(folder) / "here", end)
        sides = [MeasuredCheckout("here", HERE, Path(folder) / "here")]
        if options.beside:
            shutil.copytree(Path(folder) / "here", Path(folder) / "beside")
            sides.append(MeasuredCheckout("beside", options.beside, Path(folder) / "beside"))
        with sync_playwright() as playwright:
            for number in range(options.rounds + 1):
                for side in sides[:: 1 if number % 2 else -1]:
                    _round(playwright, side, f"/p/{project}/flame", end, number)
    return 0 if _show(sides) else 1


def _filled(folder: Path, end: datetime) -> str:
    """Fill a new data folder and return the project's id."""
    folder.mkdir()
    shutil.copytree(prepared_data(), folder / "data", ignore=shutil.ignore_patterns("disk-reserve"))
    with server_in(folder) as server:
        project = server.add_project(email=OWNER)
        filling = [
            sys.executable,
            "-m",
            "benchmarks.pages.first_pixel_data",
            project,
            end.isoformat(),
        ]
        subprocess.run(filling, env=server.environment, check=True)
        server.interrupt()
    return project


def _round(
    playwright: Playwright, side: MeasuredCheckout, path: str, end: datetime, number: int
) -> None:
    """Start the server and open the page in each case; round 0 is not counted."""

    def address(service: str, seconds: int) -> str:
        # Each opening has another range, with all profiles.
        start = end - SPAN - timedelta(seconds=number * 8 + seconds)
        params = {"service": service, "type": "CPU", "from": start.isoformat()}
        return f"{path}?{urlencode(params | {'to': end.isoformat()})}"

    with server_in(side.folder, checkout=side.checkout) as server:
        with _browser(playwright) as browser:
            if number == 0:
                side.cookies = _signed_in(browser, server)
                return
        with _browser(playwright) as browser:
            context = _context(browser, server, side.cookies)
            list_page = f"{path.removesuffix('/flame')}/services"
            found = {
                "after a restart, first visit": _opened(context, address("shop", 0)),
                "warm": _opened(context, address("shop", 1)),
                "warm, from the services": _opened(context, address("shop", 2), list_page),
                "274,000 nodes": _opened(context, address("wide", 3)),
                "274,000 nodes, warm": _opened(context, address("wide", 4)),
                "274,000 nodes, from the services": _opened(context, address("wide", 5), list_page),
            }
        for case, times in found.items():
            side.times.setdefault(case, []).append(times)
        server.interrupt()


@contextlib.contextmanager
def _browser(playwright: Playwright) -> Iterator[Browser]:
    path = services.find("chromium")
    arguments = ["--no-sandbox", "--disable-gpu"]
    browser = playwright.chromium.launch(executable_path=path, args=arguments)
    yield browser
    browser.close()


def _context(browser: Browser, server: RunningServer, cookies: Any) -> BrowserContext:
    size: ViewportSize = {"width": 1280, "height": 900}
    return browser.new_context(base_url=server.url, viewport=size, storage_state=cookies)


def _signed_in(browser: Browser, server: RunningServer) -> Any:
    context = _context(browser, server, None)
    page = context.new_page()
    page.goto("/account/login/")
    page.get_by_label("E-mail").fill(OWNER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/services")
    return context.storage_state()


def _opened(context: BrowserContext, address: str, shown_before: str = "") -> Times:
    """Open the page in a new tab, or in one that shows another page before."""
    page = context.new_page()
    page.add_init_script(_OBSERVED)
    if shown_before:
        page.goto(shown_before, wait_until="networkidle")
    page.wait_for_timeout(SETTLED_MS)
    # Waiting for a function or a load state would run Playwright's script in the page: some 20 ms.
    with page.expect_console_message(lambda message: message.text == "painted"):
        page.goto(address, wait_until="commit")
    page.wait_for_load_state("networkidle")
    times: Times = page.evaluate(_TIMES)
    page.close()
    return times


def _show(sides: Sequence[MeasuredCheckout]) -> bool:
    shown = []
    for case in sides[0].times:
        figures = []
        for key, name in _PHASES.items():
            value, *others = (_median(side, case, key) for side in sides)
            peer = "".join(f"beside: {other:,.0f} ms ({value / other:.0%})" for other in others)
            figures.append(Figure(name, value, "ms", peer=peer))
        worst = max(times["shifts"] for times in sides[0].times[case])
        figures += [
            Figure("layout shift, worst", worst, "", limit=0.01),
            Figure("tree on the wire", _median(sides[0], case, "size"), "kB"),
        ]
        shown.append(show(f"Flame page, {case}", figures))
    return all(shown)


def _median(side: MeasuredCheckout, case: str, key: str) -> float:
    return statistics.median(times[key] for times in side.times[case])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
