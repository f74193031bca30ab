"""Flame graph as an SVG image without scripts, links or fonts of its own."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple
from zlib import crc32

from profiles.query import TreeResult

ROW, TITLE = 18, 24  # pixels
_CELL = 6.7  # pixels per character at 11 px
_PADDING = 4
_NARROWEST = 0.5  # pixels of a box that is drawn
MAX_BOXES = 5000
_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"


class Theme(NamedTuple):
    """Colours; `fills` have a contrast of 4.5 or more to `ink`."""

    background: str
    text: str
    ink: str
    folded: str
    fills: tuple[str, ...]


THEMES: Mapping[str, Theme] = {
    "light": Theme(
        *("#ffffff", "#1a1c19", "#1a1c19", "#e4e6e1"),
        ("#f6b48f", "#f3d17a", "#b9d98a", "#8fd3b6", "#8fc7e8", "#b5b8f0", "#dfb0e0", "#f2a9b8"),
    ),
    "dark": Theme(
        *("#191a19", "#e7e9e4", "#f3f4f1", "#333633"),
        ("#8a4a25", "#6e5a12", "#47651f", "#1f6650", "#1f5d80", "#494d94", "#75447a", "#8a3f52"),
    ),
}


@dataclass(frozen=True, slots=True)
class Size:
    width: int  # pixels
    levels: int  # the title is above them


class _Box(NamedTuple):
    x: float
    y: int
    width: float
    name: str
    file: str
    total: int
    is_label: bool  # value of the label that splits the tree


def svg(result: TreeResult, title: str, size: Size, theme: Theme) -> bytes:
    """Draw the upper levels of a call tree, with the roots at the top."""
    total = result.coverage.total
    boxes = [*_boxes(result, size)][:MAX_BOXES]
    rows = max((box.y // ROW for box in boxes), default=0) + 1
    parts = [
        _head(size.width, TITLE + rows * ROW, title, theme),
        _text(title, 0, 0, size.width, theme.text, TITLE),
    ]
    for box in boxes:
        colour = theme.fills[crc32(_family(box).encode()) % len(theme.fills)]
        fill = theme.folded if box.is_label else colour
        shown = max(_NARROWEST, box.width - 1)
        share = f"{100 * box.total / total:.1f} %" if total else ""
        parts.append(
            f"<g><title>{_safe(box.name, 500)} {share}</title>"
            f'<rect x="{box.x:.2f}" y="{TITLE + box.y}" width="{shown:.2f}" height="{ROW - 1}"'
            f' fill="{fill}"/>'
            f"{_text(box.name, box.x, TITLE + box.y, box.width, theme.ink, ROW - 1)}</g>"
        )
    if not boxes:
        parts.append(_text("—", 0, TITLE, size.width, theme.text, ROW))
    return "".join([*parts, "</svg>\n"]).encode()


def message_svg(sentence: str, theme: Theme, width: int = 600) -> bytes:
    """Return an image with a sentence, for an error response that a page shows as image."""
    text = _text(sentence, 0, 0, width, theme.text, TITLE)
    return f"{_head(width, TITLE, sentence, theme)}{text}</svg>\n".encode()


def _head(width: int, height: int, title: str, theme: Theme) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="{_FONT}" font-size="11" role="img">'
        f"<title>{_safe(title, 500)}</title>"
        f'<rect width="{width}" height="{height}" fill="{theme.background}"/>'
    )


def _boxes(result: TreeResult, size: Size) -> Iterator[_Box]:
    """Yield the boxes that are wide enough, parents before their children."""
    tree = result.tree
    parents, own = tree.parent.tolist(), tree.self[0].tolist()
    totals = list(own)
    for node, (_, weight) in result.folded.items():
        totals[node] += weight
    for node in range(len(parents) - 1, -1, -1):
        if parents[node] >= 0:
            totals[parents[node]] += totals[node]
    whole = sum(total for total, parent in zip(totals, parents, strict=True) if parent < 0)
    if not whole:
        return
    scale, strings = size.width / whole, tree.frames.strings
    names, files = tree.frames.name.tolist(), tree.frames.file.tolist()
    frames = tree.frame.tolist()
    labels = [False] * len(names) if tree.frames.is_label is None else tree.frames.is_label.tolist()
    level = [-1]
    starts = {-1: 0.0}
    children = _children(parents, totals)
    for row in range(size.levels):
        below: list[int] = []
        for parent in level:
            at = starts[parent]
            for node in children.get(parent, ()):
                width = totals[node] * scale
                if width < _NARROWEST:
                    break  # the others are smaller
                name, file = strings[names[frames[node]]], strings[files[frames[node]]]
                is_label = labels[frames[node]]
                yield _Box(at, row * ROW, width, name, file, totals[node], is_label)
                starts[node] = at
                at += width
                below.append(node)
        level = below


def _children(parents: Sequence[int], totals: Sequence[int]) -> dict[int, list[int]]:
    """Return the nodes by parent, the greatest first."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    for nodes in children.values():
        nodes.sort(key=lambda node: -totals[node])
    return children


def _family(box: _Box) -> str:
    """Return the text that chooses the colour: the file's folder, or the name without its end."""
    return box.file.rpartition("/")[0] or box.name.rpartition(".")[0] or box.name


def _text(text: str, x: float, y: int, width: float, fill: str, height: int) -> str:
    room = int((width - 2 * _PADDING) / _CELL)
    if room < 3:
        return ""
    left, base = f"{x + _PADDING:.2f}", y + height - 5
    return f'<text x="{left}" y="{base}" fill="{fill}">{_safe(text, room)}</text>'


def _safe(text: str, most: int) -> str:
    """Return at most so many characters, escaped, without control and formatting characters."""
    plain = "".join(
        each for each in text[: 4 * most] if unicodedata.category(each) not in _INVISIBLE
    )
    return escape(plain if len(plain) <= most else f"{plain[: most - 1]}…")


_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Cn", "Co"})
