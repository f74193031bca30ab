"""Checks of a finding in words, with the numbers that decided."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from detection.findings import CheckStage
from frontend.text.units import format_count, format_percent


@dataclass(frozen=True, slots=True)
class CheckText:
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Evidence of a check; numbers that it lacks are 0."""

    evidence: dict[str, float]
    functions: list[str]

    def percent(self, name: str) -> str:
        return format_percent(abs(self.evidence.get(name, 0.0)), 1)

    def number(self, name: str) -> str:
        return format_count(abs(self.evidence.get(name, 0.0)))


def list_check_texts(checks: list[dict[str, Any]]) -> list[CheckText]:
    """Describe the checks that the finding passed, in their order."""
    texts = []
    for check in checks:
        write = _TEXTS.get(CheckStage(check["stage"]))
        if write is not None and check["passed"]:
            texts.append(write(_Numbers(check["evidence"], check["functions"])))
    return texts


def _samples(numbers: _Numbers) -> CheckText:
    text = _("A day's mean is known to %(error)s.") % {"error": numbers.percent("relative_error")}
    return CheckText(_("Enough samples"), text)


def _traffic(numbers: _Numbers) -> CheckText:
    text = _(
        "No. At the same load the value changed by %(score)s standard errors, its share of the"
        " service by %(share)s."
    )
    values = {"score": numbers.number("score"), "share": numbers.number("share_score")}
    return CheckText(_("Traffic"), text % values)


def _went_away(numbers: _Numbers) -> CheckText:
    text = _("No. In the later half of the time since then %(part)s of the change was left.")
    return CheckText(_("Went away by itself"), text % {"part": numbers.percent("remaining")})


def _seasonality(numbers: _Numbers) -> CheckText:
    title = _("Weekly rhythm")
    if "remaining" not in numbers.evidence:
        return CheckText(title, _("Not known: no earlier week has profiles at these hours."))
    text = _("No. Against the same hours of earlier weeks the change is %(part)s of its size.")
    return CheckText(title, text % {"part": numbers.percent("remaining")})


def _cost_shift(numbers: _Numbers) -> CheckText:
    title = _("Cost moved between functions")
    if not numbers.functions:
        return CheckText(title, _("No. No function nearby changed in the other direction."))
    text = _("No. Opposite changes nearby are %(part)s of this one.")
    return CheckText(title, text % {"part": numbers.percent("moved")})


_TEXTS: dict[CheckStage, Callable[[_Numbers], CheckText]] = {
    CheckStage.COST_SHIFT: _cost_shift,
    CheckStage.SEASONALITY: _seasonality,
    CheckStage.TRAFFIC: _traffic,
    CheckStage.WENT_AWAY: _went_away,
    CheckStage.SAMPLES: _samples,
}
