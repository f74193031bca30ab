"""Verdict of a check as an SVG image: changes with their intervals, beside zero and threshold."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from flamewatch_client.check_report import CheckReport, format_numbers
from flamewatch_client.check_verdict import ChangeKind, CheckOutcome, ComparedCost
from flamewatch_client.terminal import make_printable

_WIDTH, _ROW, _TOP, _BOTTOM = 960, 26, 74, 44  # pixels
_LEFT, _RIGHT = 330, 690  # of the axis; names are before it, values after it
_CHARACTERS = 46  # of a name
_MOST = 400.0  # percent: greater changes end at the edge
_INK, _FAINT, _LINE = "#1a1c19", "#5f625a", "#d9d9d3"
_COLOURS = {
    ChangeKind.REGRESSION: "#c2410c",
    ChangeKind.ADDED: "#c2410c",
    ChangeKind.IMPROVEMENT: "#1f5f99",
    ChangeKind.REMOVED: "#1f5f99",
    None: _FAINT,
}
_Row = tuple[ChangeKind | None, ComparedCost]


@dataclass(frozen=True, slots=True)
class _Axis:
    """Percents of the base, from `low` to `high`."""

    low: float
    high: float

    def to_pixels(self, percent: float) -> float:
        """Return the position in pixels; one beyond an end is at the end."""
        part = (percent - self.low) / (self.high - self.low)
        return _LEFT + min(max(part, 0.0), 1.0) * (_RIGHT - _LEFT)


def render_svg(report: CheckReport) -> str:
    """Draw the total and the changes of the report, which the table lists, too."""
    verdict = report.verdict
    rows: list[_Row] = []
    if verdict.outcome is not CheckOutcome.TOO_FEW_PROFILES:
        rows = [(verdict.total_kind, verdict.total), *report.list_costs()]
    height = _TOP + len(rows) * _ROW + (_BOTTOM if rows else 0)
    heading = f"{report.service} {report.type}: {report.base} → {report.head}"
    colour = _INK
    if verdict.outcome is CheckOutcome.REGRESSION:
        colour = _COLOURS[ChangeKind.REGRESSION]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}"'
        f' viewBox="0 0 {_WIDTH} {height}" role="img" font-size="13"'
        ' font-family="system-ui, sans-serif">',
        f"<title>{_escape(f'Flamewatch: {report.title}. {heading}')}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(16, 26, f"Flamewatch: {report.title}", colour, 'font-weight="700" font-size="16"'),
        _text(16, 48, _shorten(heading, 110), _FAINT),
    ]
    if rows:
        axis = _scale(report, rows)
        lines += _draw_axis(report, axis, height)
        for number, (kind, cost) in enumerate(rows):
            lines += _draw_row(report, kind, cost, axis, _TOP + number * _ROW)
    return "\n".join([*lines, "</svg>\n"])


def _scale(report: CheckReport, rows: list[_Row]) -> _Axis:
    """Return an axis with all intervals, zero and the thresholds."""
    limits = report.verdict.limits
    percents = [0.0, limits.threshold, limits.total_threshold]
    for _, cost in rows:
        values = map(cost.to_percent, (cost.difference, cost.low, cost.high))
        percents += [each for each in values if each is not None]
    low, high = max(min(percents), -100.0), min(max(percents), _MOST)
    room = (high - low) * 0.05 or 1.0
    return _Axis(low - room, high + room)


def _draw_axis(report: CheckReport, axis: _Axis, height: int) -> Iterator[str]:
    threshold, bottom = report.verdict.limits.threshold, height - _BOTTOM + 6
    zero = axis.to_pixels(0)
    yield f'<path d="M{zero:.1f} {_TOP - 8}V{bottom}" stroke="{_FAINT}"/>'
    yield _text(zero, bottom + 16, "0", _FAINT, 'text-anchor="middle"')
    if threshold:
        x = axis.to_pixels(threshold)
        colour = _COLOURS[ChangeKind.REGRESSION]
        yield f'<path d="M{x:.1f} {_TOP - 8}V{bottom}" stroke="{colour}" stroke-dasharray="4 3"/>'
        label = f"threshold +{threshold:g} %"
        yield _text(x, bottom + 32, label, colour, 'text-anchor="middle"')


def _draw_row(
    report: CheckReport, kind: ChangeKind | None, cost: ComparedCost, axis: _Axis, y: int
) -> Iterator[str]:
    difference, percent, interval, base, head = format_numbers(cost, report.unit)
    colour, middle = _COLOURS[kind], y + _ROW / 2
    detail = f"{cost.name}: {base} → {head} ({difference}, {percent}), 95 % interval {interval}"
    yield f"<g><title>{_escape(detail)}</title>"
    yield f'<path d="M16 {y}H{_WIDTH - 16}" stroke="{_LINE}"/>'
    weight = 'font-weight="600"' if cost is report.verdict.total else ""
    yield _text(16, middle + 4, _shorten(cost.name, _CHARACTERS), _INK, weight)
    low, high = cost.to_percent(cost.low), cost.to_percent(cost.high)
    if low is not None and high is not None:
        bar = f"M{axis.to_pixels(low):.1f} {middle}H{axis.to_pixels(high):.1f}"
        yield f'<path d="{bar}" stroke="{colour}" stroke-width="3"/>'
    change = cost.to_percent(cost.difference)
    if change is not None:
        yield f'<circle cx="{axis.to_pixels(change):.1f}" cy="{middle}" r="4.5" fill="{colour}"/>'
    yield _text(_RIGHT + 76, middle + 4, percent, colour, 'text-anchor="end" font-weight="600"')
    yield _text(_RIGHT + 92, middle + 4, f"{base} → {head}", colour)
    yield "</g>"


def _text(x: float, y: float, text: str, colour: str, attributes: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" {attributes}>{_escape(text)}</text>'


def _shorten(text: str, most: int) -> str:
    """Leave out the start of a long name: its end tells functions of a package apart."""
    return text if len(text) <= most else f"…{text[-most + 1 :]}"


def _escape(text: str) -> str:
    return escape(make_printable(text))
