"""Layout of an embedded comparison: mean widths, and colours for more and less."""

from collections.abc import Iterator
from dataclasses import dataclass

from frontend.pages.embed.picture import (
    GraphBox,
    GraphPicture,
    Size,
    build_picture,
    draw_node,
    place_nodes,
    sum_roots,
    sum_totals,
)
from frontend.pages.embed.theme import LESS, MORE, Theme
from frontend.text.units import format_delta, format_value
from profiles.query import CompareResult

_Colour = tuple[int, int, int]  # red, green, blue
# As in static/compare/differences.js, so that both draw a frame in the same colour.
_FULL = 0.6  # change, as a part of the larger side, from which on a colour is full
_LEAST = 0.06
_NEGLIGIBLE = 0.001  # change, as a part of the larger side's whole, that counts as none


def difference_picture(result: CompareResult, title: str, size: Size, theme: Theme) -> GraphPicture:
    """Lay out the upper levels of both trees, as wide as the mean of both sides."""
    return build_picture(_boxes(result, size, theme), title, size, theme)


def mean_totals(result: CompareResult) -> tuple[float, float]:
    """Return the averages of a profile of the baseline and of the selected side."""
    selected, baseline = (max(coverage.profiles, 1) for coverage in result.coverages)
    return result.whole.b_total / baseline, result.whole.a_total / selected


def _boxes(result: CompareResult, size: Size, theme: Theme) -> Iterator[GraphBox]:
    tree, unit = result.tree, result.metric.unit
    parents = tree.parent.tolist()
    profiles = [max(coverage.profiles, 1) for coverage in result.coverages]
    # Those of both sides together.
    folded = {node: sum_ / sum(profiles) for node, (_, sum_) in result.folded.items()}
    after, before = (
        sum_totals(parents, (tree.self[side] / profiles[side]).tolist(), folded) for side in (0, 1)
    )
    whole = max(sum_roots(parents, before), sum_roots(parents, after))
    means = [(a + b) / 2 for a, b in zip(after, before, strict=True)]
    for placed in place_nodes(result, parents, means, size):
        sides = _Sides(before[placed.node], after[placed.node], whole)
        change = format_delta(sides.after - sides.before, unit)
        values = " → ".join(format_value(each, unit) for each in (sides.before, sides.after))
        fill = sides.mix_fill(_read_parts(theme.fills["same"]))
        yield draw_node(placed, _format(fill), _choose_ink(fill), f"{values} ({change})")


@dataclass(frozen=True, slots=True)
class _Sides:
    """Averages of a node on both sides; `whole` is that of the larger side's tree."""

    before: float
    after: float
    whole: float

    def mix_fill(self, same: _Colour) -> _Colour:
        """Return the colour: that of unchanged frames, mixed with the one for more or less."""
        strength = self._compute_strength()
        goal = _read_parts(MORE if self.after > self.before else LESS)
        red, green, blue = (
            int(unchanged + (other - unchanged) * strength + 0.5)
            for unchanged, other in zip(same, goal, strict=True)
        )
        return red, green, blue

    def _compute_strength(self) -> float:
        """Return the intensity of the change's colour, 0 … 1."""
        if self.before == self.after:
            return 0
        if not self.before or not self.after:  # on one side only
            return 1
        change = abs(self.after - self.before)
        if change < _NEGLIGIBLE * self.whole:
            return 0
        strength = min(1, change / max(self.before, self.after) / _FULL)
        return 0 if strength < _LEAST else strength


def _read_parts(colour: str) -> _Colour:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _format(colour: _Colour) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)


def _choose_ink(colour: _Colour) -> str:
    """Return black or white, whichever has more contrast on the colour."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (each / 255 for each in colour)
    )
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#ffffff"
