"""Layout of an embedded flame graph, which svg.py and png.py draw."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from frontend.components.functions.package_colours import NATIVE, PackageColours
from frontend.pages.embed.theme import Theme
from profiles.query import CompareResult, TreeResult

ROW, TITLE = 18, 24  # pixels
FONT_SIZE = 11  # pixels
MAX_BOXES = 5000
MAX_TITLE = 500  # characters
_CHARACTER = 6.7  # pixels per character at FONT_SIZE
_PADDING = 4
_NARROWEST = 0.5  # pixels of a box that is drawn
_FEWEST = 3  # characters of a label that is drawn
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Cn", "Co"})


@dataclass(frozen=True, slots=True)
class Size:
    width: int  # pixels
    levels: int  # the title is above them


class TextLabel(NamedTuple):
    """Text on one line, cut to its space; `baseline` is in pixels from the top."""

    x: float
    baseline: int
    text: str
    colour: str


class GraphBox(NamedTuple):
    """Rectangle of a node, ROW - 1 pixels high."""

    x: float
    y: int
    width: float
    fill: str
    name: str
    detail: str  # of the node, which is shown with its name; "" without any
    label: TextLabel | None  # None if the box is too narrow for one


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """Everything that is drawn; lengths are in pixels."""

    width: int
    height: int
    title: str
    background: str
    labels: tuple[TextLabel, ...]
    boxes: tuple[GraphBox, ...] = ()


def flame_picture(
    result: TreeResult, colours: PackageColours, title: str, size: Size, theme: Theme
) -> GraphPicture:
    """Lay out the upper levels of a call tree, with the roots at the top.

    `colours` are those of the whole selection, of which the tree may show a part.
    """
    return build_picture(_boxes(result, colours, size, theme), title, size, theme)


def build_picture(drawn: Iterable[GraphBox], title: str, size: Size, theme: Theme) -> GraphPicture:
    """Return a picture of at most MAX_BOXES boxes, which have parents before their children."""
    boxes = tuple(islice(drawn, MAX_BOXES))
    rows = max(((box.y - TITLE) // ROW for box in boxes), default=0) + 1
    labels = [fit_label(title, 0, 0, size.width, theme.text, TITLE)]
    if not boxes:
        labels.append(TextLabel(_PADDING, TITLE + ROW - 5, "—", theme.text))
    return GraphPicture(
        size.width,
        TITLE + rows * ROW,
        title,
        theme.background,
        tuple(label for label in labels if label),
        boxes,
    )


def message_picture(sentence: str, theme: Theme, width: int = 600) -> GraphPicture:
    """Return an image with a sentence, for an error response that a page shows as image."""
    label = fit_label(sentence, 0, 0, width, theme.text, TITLE)
    return GraphPicture(width, TITLE, sentence, theme.background, (label,) if label else ())


def visible(text: str, most: int) -> str:
    """Return at most so many characters, without control and formatting characters."""
    plain = "".join(
        each for each in text[: 4 * most] if unicodedata.category(each) not in _INVISIBLE
    )
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


class PlacedNode(NamedTuple):
    node: int  # index in the tree
    x: float
    row: int
    width: float
    name: str
    file: str
    is_label: bool  # value of the label that splits the tree


def _boxes(
    result: TreeResult, colours: PackageColours, size: Size, theme: Theme
) -> Iterator[GraphBox]:
    total, highlighted = result.drawn_total, frozenset(result.highlighted)
    parents, own = result.tree.parent.tolist(), result.tree.self[0].tolist()
    totals = sum_totals(parents, own, {node: sum_ for node, (_, sum_) in result.folded.items()})
    for placed in place_nodes(result, parents, totals, size):
        token = NATIVE if placed.is_label else colours.find_token(placed.name, placed.file)
        fill, ink = theme.fills[token], theme.ink
        if placed.node in highlighted:
            fill, ink = theme.highlight, theme.highlight_ink
        detail = f"{100 * totals[placed.node] / total:.1f} %" if total else ""
        yield draw_node(placed, fill, ink, detail)


def draw_node(placed: PlacedNode, fill: str, ink: str, detail: str) -> GraphBox:
    y = TITLE + placed.row * ROW
    return GraphBox(
        placed.x,
        y,
        max(_NARROWEST, placed.width - 1),
        fill,
        placed.name,
        detail,
        fit_label(placed.name, placed.x, y, placed.width, ink, ROW - 1),
    )


def sum_totals(
    parents: Sequence[int], own: Sequence[float], folded: Mapping[int, float]
) -> list[float]:
    """Return the total of each node: its own value, those below it, and what was folded there."""
    totals = list(own)
    for node, weight in folded.items():
        totals[node] += weight
    for node in range(len(parents) - 1, -1, -1):
        if parents[node] >= 0:
            totals[parents[node]] += totals[node]
    return totals


def sum_roots(parents: Sequence[int], totals: Sequence[float]) -> float:
    return sum(total for total, parent in zip(totals, parents, strict=True) if parent < 0)


def place_nodes(
    result: TreeResult | CompareResult,
    parents: Sequence[int],
    totals: Sequence[float],
    size: Size,
) -> Iterator[PlacedNode]:
    """Yield the nodes that are wide enough, parents before their children."""
    tree = result.tree
    whole = sum_roots(parents, totals)
    if not whole:
        return
    scale, strings = size.width / whole, tree.frames.strings
    names, files = tree.frames.name.tolist(), tree.frames.file.tolist()
    frames = tree.frame.tolist()
    labels = [False] * len(names) if tree.frames.is_label is None else tree.frames.is_label.tolist()
    level = [-1]
    starts = {-1: 0.0}
    of_node = [strings[names[frame]] for frame in frames]
    children = _children(parents, list(zip(totals, of_node, tree.id.tolist(), strict=True)))
    for row in range(size.levels):
        below: list[int] = []
        for parent in level:
            x = starts[parent]
            for node in children.get(parent, ()):
                width = totals[node] * scale
                if width < _NARROWEST:
                    break  # the others are smaller
                frame, name = frames[node], of_node[node]
                yield PlacedNode(node, x, row, width, name, strings[files[frame]], labels[frame])
                starts[node] = x
                x += width
                below.append(node)
        level = below


def _children(
    parents: Sequence[int], ranks: Sequence[tuple[float, str, int]]
) -> dict[int, list[int]]:
    """Return the nodes by parent, by total (descending), name and id, as in the console.

    `ranks` has these three of each node.
    """
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    for nodes in children.values():
        nodes.sort(key=lambda node: (-ranks[node][0], *ranks[node][1:]))
    return children


def fit_label(
    text: str, x: float, y: int, width: float, colour: str, height: int
) -> TextLabel | None:
    room = int((width - 2 * _PADDING) / _CHARACTER)
    if room < _FEWEST:
        return None
    return TextLabel(x + _PADDING, y + height - 5, visible(text, room), colour)
