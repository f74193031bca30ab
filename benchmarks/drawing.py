"""Drawing in headless Chromium, beside d3-flame-graph and speedscope, on trees of a real shape.

The first render of d3-flame-graph begins with the nested objects it wants, ours with the text of
the answer, speedscope's with a file of its own format; its zoom is to the first picture of a slide.
Every figure is the median of pages opened anew, for a page's first picture is drawn by scripts that
the browser has not compiled yet.
Needs Node.js' packages (npm ci) and a Chromium.
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

from benchmarks.table import Figure, show
from profiles.engine.calltree.subtree import fold
from profiles.engine.encoding.preorder_columns import to_columns
from profiles.engine.exports import speedscope
from tests import services
from tests.profiles.engine.grown import grown

ROOT = Path(__file__).parent.parent
PAGES = Path(__file__).parent / "in_browser"
MODULES = ROOT / "node_modules"
SPEEDSCOPE = MODULES / "speedscope" / "dist" / "release"
SIZES = (10_000, 100_000, 1_000_000)
PEERS = 100_000  # nodes that the peers draw at most: a million take them minutes
OPENED = 5  # pages
DRAWN = 250_000  # nodes: what is more is folded, as the server does
_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".html": "text/html",
    ".css": "text/css",
}


@dataclass(frozen=True, slots=True)
class Served:
    tree: bytes
    speedscope: bytes  # the same in its format


def main() -> int:
    with sync_playwright() as playwright:
        # Speedscope needs WebGL, which without a GPU slows down what the others draw with.
        plain = _chromium(playwright, "--disable-gpu")
        webgl = _chromium(playwright, "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
        kept = [_report(size, _measured(plain, webgl, size)) for size in SIZES]
        plain.close()
        webgl.close()
    return 0 if all(kept) else 1


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
    """Of each figure that all of them have."""
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
            body, kind = _file(self.path.partition("?")[0], served)
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the table is the output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _file(path: str, served: Served) -> tuple[bytes, str]:
    documents = {"/tree.json": served.tree, "/speedscope.json": served.speedscope}
    if path in documents:
        return documents[path], "application/json"
    static = ROOT / "frontend" / "static"
    folders = {"static": static, "modules": MODULES, "speedscope": SPEEDSCOPE}
    top, _, rest = path.lstrip("/").partition("/")
    file = folders[top] / rest if top in folders else PAGES / path.lstrip("/")
    kind = _TYPES.get(file.suffix, "application/octet-stream")
    if top == "modules" and file.suffix == ".css":
        return b"export {};", _TYPES[".js"]  # bundlers take the style that the peer imports
    body = file.read_bytes() if file.is_file() else b""
    return (_filled(body) if kind == _TYPES[".html"] else body), kind


def _filled(page: bytes) -> bytes:
    """With the names of what it loads; speedscope's has the hash of its content in it."""
    script = next(SPEEDSCOPE.glob("speedscope-*.js")).name
    return page.replace(b"IMPORTS", _imports()).replace(b"SPEEDSCOPE", script.encode())


def _imports() -> bytes:
    """Where a browser finds the packages that the peer imports by name."""
    found = {}
    for package in MODULES.glob("*/package.json"):
        about = json.loads(package.read_text())
        entry = about.get("module") or about.get("main") or "index.js"
        found[about["name"]] = f"/modules/{package.parent.name}/{entry.removeprefix('./')}"
    return orjson.dumps({"imports": found})


if __name__ == "__main__":
    sys.exit(main())
