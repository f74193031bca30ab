"""Drawing in headless Chromium, beside d3-flame-graph, on trees of a real shape.

Its first render begins with the nested objects it wants, ours with the text of the answer.
Needs Node.js' packages (npm ci) and a Chromium.
"""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
from playwright.sync_api import Browser, sync_playwright

from benchmarks.table import Figure, show
from profiles.engine.columns import to_columns
from profiles.engine.subtree import fold
from tests import services
from tests.profiles.engine.grown import grown

ROOT = Path(__file__).parent.parent
PAGES = Path(__file__).parent / "in_browser"
MODULES = ROOT / "node_modules"
SIZES = (10_000, 100_000, 1_000_000)
DRAWN = 250_000  # nodes: what is more is folded, as the server does
_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".html": "text/html",
    ".css": "text/css",
}


def main() -> int:
    """The peer draws up to 100,000 nodes here: a million take it minutes."""
    kept = True
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=services.find("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for size in SIZES:
            kept &= _report(size, _measured(browser, _tree(size), peer=size <= 100_000))
        browser.close()
    return 0 if kept else 1


def _tree(nodes: int) -> bytes:
    tree, folded = fold(grown(nodes), DRAWN)
    head = {
        "service": "shop",
        "type": "CPU",
        "metric": {"name": "cpu", "unit": "nanoseconds"},
        "profiles": 1,
    }
    return orjson.dumps({**head, **to_columns(tree, folded=folded)})


def _measured(browser: Browser, tree: bytes, *, peer: bool) -> dict[str, Any]:
    with _serving(tree) as url:
        context = browser.new_context(
            viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(f"{url}/drawing.html{'?peer' if peer else ''}")
        done = page.locator("html[data-measured]")
        done.wait_for(state="attached", timeout=600_000)
        found: dict[str, Any] = json.loads(done.get_attribute("data-measured") or "{}")
        context.close()
    return found


def _report(size: int, found: dict[str, Any]) -> bool:
    ours, theirs = found["ours"], found["theirs"]
    peer = {name: f"d3-flame-graph {theirs[name]:.0f} ms" for name in ("first", "zoom") if theirs}
    first = theirs["first"] / 5 if theirs and size == 100_000 else None
    return show(
        f"Drawing {size:,} nodes",
        [
            Figure("first render", ours["first"], "ms", first, peer.get("first", "")),
            Figure("zoom, median", ours["zoom"], "ms", 20, peer.get("zoom", "")),
            Figure("hover, median", ours["hover"], "ms", 4),
        ],
    )


@contextmanager
def _serving(tree: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, kind = _file(self.path.partition("?")[0], tree)
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


def _file(path: str, tree: bytes) -> tuple[bytes, str]:
    if path == "/tree.json":
        return tree, "application/json"
    folders = {"static": ROOT / "frontend" / "static", "modules": MODULES}
    top, _, rest = path.lstrip("/").partition("/")
    file = folders[top] / rest if top in folders else PAGES / path.lstrip("/")
    kind = _TYPES.get(file.suffix, "application/octet-stream")
    if top == "modules" and file.suffix == ".css":
        return b"export {};", _TYPES[".js"]  # bundlers take the style that the peer imports
    body = file.read_bytes() if file.is_file() else b""
    return body.replace(b"IMPORTS", _imports()), kind


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
