"""Flame graph of a call tree, drawn with characters: the root above, callees below."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flamewatch_client.terminal import format_share, make_printable

# Warm colours of xterm's 256, with black text on them.
_COLOURS = (173, 179, 180, 186, 209, 215, 216, 221, 222, 223, 229)


@dataclass(frozen=True, slots=True)
class Cell:
    """Frame of one row: columns from `start` to before `end`."""

    start: int
    end: int
    label: str
    total: int


def draw(tree: Mapping[str, Any], root: str, width: int, depth: int, colours: bool) -> list[str]:
    """Return the lines of the graph. Frames narrower than a column are left out.

    A gap marked with dots has only such frames.
    """
    totals = sum_totals(tree)
    whole = sum(total for total, level in zip(totals, tree["depth"], strict=True) if level == 0)
    if whole <= 0:
        return []
    rows: dict[int, list[Cell]] = {0: [Cell(0, width, root, whole)]}
    gaps: dict[int, set[int]] = {}
    names, frames = tree["names"], tree["frames"]["name"]
    next_start = [0]  # value at which the next child of each level of the path begins
    for frame, level, total in zip(tree["frame"], tree["depth"], totals, strict=True):
        begin = next_start[level]
        del next_start[level + 1 :]
        next_start[level] = begin + total
        next_start.append(begin)
        if level + 1 > depth:
            continue
        cell = Cell(begin * width // whole, (begin + total) * width // whole, "", total)
        if cell.end > cell.start:
            label = names[frames[frame]]
            rows.setdefault(level + 1, []).append(Cell(cell.start, cell.end, label, total))
        elif total:
            gaps.setdefault(level + 1, set()).add(min(cell.start, width - 1))
    return [
        _draw_row(rows.get(level, []), gaps.get(level, set()), width, whole, colours)
        for level in range(max((*rows, *gaps)) + 1)
    ]


def sum_totals(tree: Mapping[str, Any]) -> list[int]:
    """Return the total of each node, with the folded nodes below it."""
    totals: list[int] = list(tree["self"])
    for row, total in zip(tree["folded"]["at"], tree["folded"]["total"], strict=True):
        totals[row] += total
    depths: Sequence[int] = tree["depth"]
    pending: dict[int, int] = {}  # by depth: the sum of the children seen from the end
    for row in range(len(totals) - 1, -1, -1):
        totals[row] += pending.pop(depths[row] + 1, 0)
        pending[depths[row]] = pending.get(depths[row], 0) + totals[row]
    return totals


def _draw_row(spans: list[Cell], gaps: set[int], width: int, whole: int, colours: bool) -> str:
    line = ""
    position = 0
    for cell in spans:
        line += _draw_gap(position, cell.start, gaps)
        line += _draw_cell(cell, whole, colours)
        position = cell.end
    return (line + _draw_gap(position, width, gaps)).rstrip()


def _draw_gap(start: int, end: int, gaps: set[int]) -> str:
    return "".join("·" if position in gaps else " " for position in range(start, end))


def _draw_cell(cell: Cell, whole: int, colours: bool) -> str:
    width, name = cell.end - cell.start, make_printable(cell.label)
    room = width - 1  # a column separates the frame from its neighbour
    label = f"{name} {format_share(cell.total, whole)}"
    if len(label) > room:
        label = name if len(name) <= room else f"{name[: room - 1]}…" if room > 2 else ""
    if not colours:
        return "|" + label.ljust(room, "-" if room <= 2 else " ")
    colour = _COLOURS[zlib.crc32(cell.label.encode()) % len(_COLOURS)]
    return f"\x1b[38;5;16;48;5;{colour}m{label.ljust(room)}\x1b[0m" + " "
