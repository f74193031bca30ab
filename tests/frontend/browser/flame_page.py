"""Helpers that read the flame page in a browser."""

from typing import TypedDict

from playwright.sync_api import Locator, Page, Position, expect

ROW = 20
TIMEOUT_MS, LOOK_MS = 20_000, 40


class FrameBox(TypedDict):
    name: str
    label: str
    row: int
    x: float
    width: float
    count: int
    share: str


def view(page: Page) -> Locator:
    return page.locator(".fg-view")


# Returns no boxes while the tree of the latest `src` is still loading.
BOXES = "graph => (graph.isLoading ? [] : graph.boxes)"


def drawn(page: Page) -> list[FrameBox]:
    """Return the boxes of the graph once it has loaded its tree and stopped moving."""
    expect(page.locator("#legend li").first).to_be_visible()
    before: list[FrameBox] = []
    for _ in range(TIMEOUT_MS // LOOK_MS):
        boxes: list[FrameBox] = page.locator("#graph").evaluate(BOXES)
        if boxes and boxes == before:
            return boxes
        before = boxes
        page.wait_for_timeout(LOOK_MS)
    raise AssertionError(f"After {TIMEOUT_MS} ms the graph still waits or moves: {before}")


def option(page: Page, label: str) -> Locator:
    """Return a field of the menu Options, which this opens."""
    menu = page.locator("#options")
    if menu.get_attribute("open") is None:
        menu.locator("summary").click()
    return menu.get_by_label(label)


def show_full_chart(page: Page) -> None:
    """Show the chart over time with its axes and its legend instead of the strip."""
    button = page.get_by_role("button", name="Full chart")
    if button.get_attribute("aria-expanded") != "true":
        button.click()


def box(page: Page, name: str) -> FrameBox:
    return next(found for found in drawn(page) if found["name"] == name)


def colour_of(page: Page, name: str, graph: str = "#graph") -> str:
    """Return the colour that the canvas has at the right end of a frame."""
    found: str = page.locator(graph).evaluate(
        """(graph, name) => {
            const box = graph.boxes.find((box) => box.name === name);
            const rows = graph.data.tree.rows;
            const line = graph.flip ? rows - 1 - box.row : box.row;
            const canvas = graph.querySelector('canvas');
            const top = Number.parseFloat(canvas.style.top);
            const [x, y] = [Math.round(box.x + box.width - 5), line * 20 + 4 - top];
            const data = canvas.getContext('2d').getImageData(x, y, 1, 1).data;
            return `rgb(${data[0]}, ${data[1]}, ${data[2]})`;
        }""",
        name,
    )
    return found


def width_of(page: Page) -> float:
    return float(view(page).evaluate("view => view.clientWidth"))


def middle(found: FrameBox) -> Position:
    return {"x": found["x"] + found["width"] / 2, "y": found["row"] * ROW + ROW / 2}
