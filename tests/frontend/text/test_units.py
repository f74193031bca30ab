"""Cases for frontend/text/units.py, shared with static/units.js."""

import json
import random
from pathlib import Path

import pytest
from django.utils import translation

from frontend.text.units import format_count, format_percent, format_value
from tests.node import run_module

CASES = json.loads((Path(__file__).parent / "units.json").read_text())


@pytest.mark.parametrize(("value", "unit", "text"), CASES["value"])
def test_a_value_has_three_digits_and_a_unit(value: float, unit: str, text: str) -> None:
    assert format_value(value, unit) == text


@pytest.mark.parametrize(("part", "whole", "text"), CASES["percent"])
def test_a_share_has_one_decimal_at_most(part: float, whole: float, text: str) -> None:
    assert format_percent(part, whole) == text


@pytest.mark.parametrize(("value", "text"), CASES["count"])
def test_a_count_has_commas(value: float, text: str) -> None:
    assert format_count(value) == text


def test_units_that_are_words_are_translated() -> None:
    with translation.override("es"):
        assert format_value(2, "cores") == f"2 {translation.gettext('cores')}" != "2 cores"
        assert format_value(1.5, "bytes") == "1,5 B"


SCRIPT = """
import { formatPercent, formatValue } from "./frontend/static/units.js";
let text = "";
for await (const part of process.stdin) text += part;
const formatted = ([value, unit]) => [formatValue(value, unit), formatPercent(value, 1e6)];
console.log(JSON.stringify(JSON.parse(text).map(formatted)));
"""


def test_any_value_reads_the_same_in_the_browser() -> None:
    chosen = random.Random(7)
    units = ["nanoseconds", "bytes", "count", "requests"]
    digits = [chosen.randrange(1, 10**4) * 10.0 ** chosen.randrange(-8, 14) for _ in range(3000)]
    values = [(value / chosen.choice([1, 3, 8]), chosen.choice(units)) for value in digits]
    theirs = json.loads(run_module(SCRIPT, stdin=json.dumps(values)))
    ours = [[format_value(value, unit), format_percent(value, 1e6)] for value, unit in values]
    assert theirs == ours
