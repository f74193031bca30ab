"""Measure drawing in headless Chromium, beside d3-flame-graph and speedscope, on realistic trees.

The first render starts with the input format of each: nested objects for d3-flame-graph, the text
of the HTTP response for ours, a file of its own format for speedscope. The zoom of d3-flame-graph
ends with the first picture of its transition. Every figure is the median of newly opened pages,
because the browser draws a page's first picture with scripts that it has not compiled yet. Needs
the Node.js packages (npm ci) and a Chromium.
"""

import json
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
from playwright.sync_api import Browser, Playwright, sync_playwright

from benchmarks.tools.table import Figure, show
from profiles.engine.calltree.preorder_columns import to_columns
from profiles.engine.calltree.subtree import fold
from profiles.engine.exports import speedscope
from tests import services
from tests.profiles.engine.grown_trees import grown

ROOT = Path(__file__).parents[2]
PAGES = Path(__file__).parent / "in_browser"
MODULES = ROOT / "node_modules"
SPEEDSCOPE = MODULES / "speedscope" / "dist" / "release"
SIZES = (10_000, 100_000, 1_000_000)
PEERS = 100_000  # most nodes for the peers, which need minutes for a million
OPENED = 5  # pages opened per figure
DRAWN = 250_000  # nodes; larger trees are folded, as the server does
_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".html": "text/html",
    ".css": "text/css",
}


@dataclass(frozen=True, slots=True)
class Served:
    tree: bytes
    speedscope: bytes  # the same tree in speedscope's format


def main() -> int:
    with sync_playwright() as playwright:
        # Speedscope needs WebGL, which without a GPU slows down the drawing of the others.
        plain = _chromium(playwright, "--disable-gpu")
        webgl = _chromium(playwright, "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
        within_limits = [_report(size, _measured(plain, webgl, size)) for size in SIZES]
        plain.close()
        webgl.close()
    return 0 if all(within_limits) else 1


def _chromium(playwright: Playwright, *args: str) -> Browser:
    path = services.find("chromium")
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox", *args])


def _served(nodes: int) -> Served:
    whole = grown(nodes)
    tree, folded = fold(whole, DRAWN)
    head = {
        "service": "shop",
        "type": "CPU",
        "metric": {"name": "cpu", "unit": "nanoseconds"},
        "profiles": 1,
    }
    drawn = orjson.dumps({**head, **to_columns(tree, folded=folded)})
    return Served(drawn, speedscope.encode(whole, "shop") if nodes <= PEERS else b"")


def _measured(plain: Browser, webgl: Browser, size: int) -> dict[str, Any]:
    peers = size <= PEERS
    with _serving(_served(size)) as url:
        page = f"{url}/drawing.html{'?peer' if peers else ''}"
        pages = [_of_page(plain, page) for _ in range(OPENED)]
        scope = f"{url}/speedscope.html#profileURL=/speedscope.json"
        return {
            "ours": _medians([each["ours"] for each in pages]),
            "theirs": _medians([each["theirs"] for each in pages]) if peers else None,
            "speedscope": _of_page(webgl, scope) if peers else None,
        }


def _medians(pages: list[dict[str, float | None]]) -> dict[str, float]:
    """Return the median of each figure that all pages have."""
    return {
        name: statistics.median(values)
        for name in pages[0]
        if len(values := [value for each in pages if (value := each[name]) is not None]) == OPENED
    }


def _of_page(browser: Browser, url: str) -> dict[str, Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(url)
    done = page.locator("html[data-measured]")
    done.wait_for(state="attached", timeout=120_000)
    found: dict[str, Any] = json.loads(done.get_attribute("data-measured") or "{}")
    context.close()
    return found


def _report(size: int, found: dict[str, Any]) -> bool:
    ours, theirs, speed = found["ours"], found["theirs"], found["speedscope"]
    peers = {
        name: f"d3-flame-graph {theirs[name]:.0f} ms, speedscope {speed[name]:.0f} ms"
        for name in ("first", "zoom")
        if theirs
    }
    first = theirs["first"] / 5 if theirs and size == PEERS else None
    return show(
        f"Drawing {size:,} nodes",
        [
            Figure("first render", ours["first"], "ms", first, peers.get("first", "")),
            Figure("zoom, median", ours["zoom"], "ms", 20, peers.get("zoom", "")),
            Figure("hover, median", ours["hover"], "ms", 4),
        ],
    )


@contextmanager
def _serving(served: Served) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, content_type = _read_file(self.path.partition("?")[0], served)
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing, because the table is the output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _read_file(path: str, served: Served) -> tuple[bytes, str]:
    documents = {"/tree.json": served.tree, "/speedscope.json": served.speedscope}
    if path in documents:
        return documents[path], "application/json"
    static = ROOT / "frontend" / "static"
    folders = {"static": static, "modules": MODULES, "speedscope": SPEEDSCOPE}
    top, _, rest = path.lstrip("/").partition("/")
    file = folders[top] / rest if top in folders else PAGES / path.lstrip("/")
    content_type = _TYPES.get(file.suffix, "application/octet-stream")
    if top == "modules" and file.suffix == ".css":
        return b"export {};", _TYPES[".js"]  # bundlers resolve this style import of the peer
    body = file.read_bytes() if file.is_file() else b""
    return (_filled(body) if content_type == _TYPES[".html"] else body), content_type


def _filled(page: bytes) -> bytes:
    """Insert the import map and the name of speedscope's script, which contains a content hash."""
    script = next(SPEEDSCOPE.glob("speedscope-*.js")).name
    return page.replace(b"IMPORTS", _imports()).replace(b"SPEEDSCOPE", script.encode())


def _imports() -> bytes:
    """Return the import map (JSON) of the packages that the peer imports by name."""
    found = {}
    for package in MODULES.glob("*/package.json"):
        about = json.loads(package.read_text())
        entry = about.get("module") or about.get("main") or "index.js"
        found[about["name"]] = f"/modules/{package.parent.name}/{entry.removeprefix('./')}"
    return orjson.dumps({"imports": found})


if __name__ == "__main__":
    sys.exit(main())
