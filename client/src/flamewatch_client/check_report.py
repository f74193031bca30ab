"""Verdict of a check as a table, as Markdown and as JSON."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from flamewatch_client.check_verdict import (
    ChangeKind,
    CheckOutcome,
    CheckVerdict,
    ComparedCost,
)
from flamewatch_client.terminal import format_value, make_printable, paint, print_table

_HEADINGS = ("CHANGE", "CHANGE%", "INTERVAL%", "BASE", "HEAD", "", "FUNCTION")
_RED, _GREEN, _YELLOW = "31", "32", "33"
_COLOURS = {
    CheckOutcome.REGRESSION: _RED,
    CheckOutcome.NO_REGRESSION: _GREEN,
    CheckOutcome.TOO_FEW_PROFILES: _YELLOW,
}
_MORE_PROFILES = "select a longer time range, or raise the capture rate of the service"
_MAX_NAME = 200  # characters of a function in Markdown; a comment may have 65,536
# Everything that Markdown or HTML could read as more than text; a link also begins with "www.".
_MARKUP = re.compile(r"[^\w .,()-]|_|(?<=[Ww]{3})\.")


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Verdict with the names that it is shown with."""

    verdict: CheckVerdict
    service: str
    type: str
    unit: str
    base: str  # version
    head: str
    link: str = ""  # comparison in the console; "" for files
    notes: tuple[str, ...] = ()  # profiles that the server left out
    size: int = 20  # functions of each kind

    def print_table(self) -> None:
        outcome = self.verdict.outcome
        print(paint(make_printable(f"{self.service} {self.type}: {self.base} → {self.head}"), "2"))
        if outcome is not CheckOutcome.TOO_FEW_PROFILES:
            costs = [(self.verdict.total_kind or "", self.verdict.total), *self.list_costs()]
            rows = [(*format_numbers(cost, self.unit), kind, cost.name) for kind, cost in costs]
            print_table(_HEADINGS, rows, "rrrrr")
        for sentence in (*self._list_sentences(), *self.notes):
            print(make_printable(sentence))
        print(paint(make_printable(self.title), f"1;{_COLOURS[outcome]}"))
        if self.link:
            print(f"Comparison: {self.link}")

    def render_markdown(self) -> str:
        service, type_, base, head = map(
            escape_markdown, (self.service, self.type, self.base, self.head)
        )
        lines = [f"### Flamewatch: {self.title}", "", f"{service}, {type_}: {base} → {head}", ""]
        if self.verdict.outcome is not CheckOutcome.TOO_FEW_PROFILES:
            lines += [
                "| | Function | Base | Head | Change | 95 % interval |",
                "| --- | --- | ---: | ---: | ---: | ---: |",
                *self._list_markdown_rows(),
                "",
            ]
        notes = map(escape_markdown, self.notes)
        lines += [f"{sentence}\n" for sentence in (*self._list_sentences(), *notes)]
        if self.link:
            lines += [f"[Comparison in Flamewatch]({self.link})", ""]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        verdict = self.verdict
        return {
            "outcome": verdict.outcome.value,
            "service": self.service,
            "type": self.type,
            "unit": self.unit,
            "base": {"version": self.base, "profiles": verdict.base_profiles},
            "head": {"version": self.head, "profiles": verdict.head_profiles},
            "needed_profiles": verdict.needed_profiles,
            "limits": asdict(verdict.limits),
            "total": {"kind": verdict.total_kind, **_to_json(verdict.total)},
            "functions": [
                {"kind": change.kind, **_to_json(change.cost)} for change in verdict.changes
            ],
            "judged": verdict.judged,
            "untested": verdict.untested,
            "undecided": verdict.undecided,
            "notes": list(self.notes),
            "url": self.link,
        }

    @property
    def title(self) -> str:
        verdict = self.verdict
        match verdict.outcome:
            case CheckOutcome.TOO_FEW_PROFILES:
                return "not enough profiles to compare"
            case CheckOutcome.NO_REGRESSION:
                return "no regression"
            case CheckOutcome.REGRESSION:
                slower = len(verdict.regressions)
                functions = "1 function" if slower == 1 else f"{slower:,} functions"
                total = verdict.total_kind is ChangeKind.REGRESSION
                parts = [functions] * bool(slower) + ["the total"] * total
                return f"regression of {' and '.join(parts)}"

    def _list_sentences(self) -> Iterator[str]:
        verdict, limits = self.verdict, self.verdict.limits
        counts = f"base {verdict.base_profiles:,}, head {verdict.head_profiles:,}"
        if verdict.outcome is CheckOutcome.TOO_FEW_PROFILES:
            yield (
                f"Profiles: {counts}. Each version needs {verdict.needed_profiles:,} or more: "
                f"{_MORE_PROFILES if self.link else 'run the benchmark more often'}."
            )
        else:
            yield (
                f"Profiles: {counts}. Functions judged: {verdict.judged:,}, with "
                f"{limits.min_share:g} % of the total or more. Threshold: {limits.threshold:g} % "
                f"of a function, {limits.total_threshold:g} % of the total."
            )
        if verdict.undecided:
            yield (
                f"Functions with an interval that reaches beyond the threshold: "
                f"{verdict.undecided:,}. More profiles narrow intervals."
            )
        if verdict.untested:
            yield f"Functions in too few profiles for an interval: {verdict.untested:,}."
        hidden = len(verdict.changes) - sum(1 for _ in self.list_costs())
        if hidden > 0:
            yield f"Changes that are not listed: {hidden:,}."

    def list_costs(self) -> Iterator[tuple[ChangeKind, ComparedCost]]:
        """Yield the changes that reports list, by kind."""
        for kind in ChangeKind:
            for cost in self.verdict.list_costs(kind)[: self.size]:
                yield kind, cost

    def _list_markdown_rows(self) -> Iterator[str]:
        yield self._format_row(self.verdict.total_kind or "", "**total**", self.verdict.total)
        for kind, cost in self.list_costs():
            name = cost.name if len(cost.name) <= _MAX_NAME else f"{cost.name[:_MAX_NAME]}…"
            yield self._format_row(kind, f"<code>{escape_markdown(name)}</code>", cost)

    def _format_row(self, kind: str, name: str, cost: ComparedCost) -> str:
        difference, percent, interval, base, head = format_numbers(cost, self.unit)
        return f"| {kind} | {name} | {base} | {head} | {difference} ({percent}) | {interval} |"


def escape_markdown(text: str) -> str:
    """Write text so that no renderer of Markdown finds markup, a link or a mention in it."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", make_printable(text))


def format_numbers(cost: ComparedCost, unit: str) -> tuple[str, str, str, str, str]:
    """Return difference, percent of the base, interval, base and head; "new" without a base."""
    return (
        ("+" if cost.difference > 0 else "") + format_value(cost.difference, unit),
        _format_percent(cost.to_percent(cost.difference)) or "new",
        _format_interval(cost),
        format_value(cost.base, unit),
        format_value(cost.head, unit),
    )


def _format_interval(cost: ComparedCost) -> str:
    low, high = (_format_percent(cost.to_percent(bound)) for bound in (cost.low, cost.high))
    return f"{low} to {high}" if low and high else "-"


def _format_percent(percent: float | None) -> str:
    return "" if percent is None else f"{percent:+,.1f}%"


def _to_json(cost: ComparedCost) -> dict[str, Any]:
    return {
        **asdict(cost),
        "difference": cost.difference,
        "percent": cost.to_percent(cost.difference),
        "percent_low": cost.to_percent(cost.low),
        "percent_high": cost.to_percent(cost.high),
    }
