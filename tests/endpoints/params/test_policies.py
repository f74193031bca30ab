"""Strict and lenient policy: equal values for valid parameters, an error or the default else."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import pytest

from endpoints.params import lists, selection, view
from endpoints.params.lists import CURSOR, FUNCTION, FUNCTION_SORT, GROUP_BY, PROFILE_ORDER, STEP
from endpoints.params.parameter import Family, Parameter, Repeated
from endpoints.params.reader import BadParameter, LenientReader, StrictReader
from endpoints.params.selection import (
    END,
    FROM,
    LABEL,
    PROFILE,
    SERVICE,
    SPAN,
    TO,
    TYPE,
    UNSET,
    VERSION,
    WEIGHT,
    WEIGHTS,
    ZONE,
)
from endpoints.params.values import Now
from endpoints.params.view import FILTER, FOCUS, GROUP, METRIC, ROOT, SHAPE, SORT, SPLIT
from profiles.query import (
    FilterOption,
    Group,
    Grouping,
    GroupKind,
    Order,
    ProfileOrder,
    Shape,
    ViewFilter,
)
from projects.profile_types import ProfileType

MODULES = (selection, view, lists)
NINE = datetime(2026, 11, 21, 9, tzinfo=UTC)

GOOD: list[tuple[Parameter[Any, Any], str, object]] = [
    (SERVICE, "shop", "shop"),
    (TYPE, "HEAP_ALLOC", ProfileType.HEAP_ALLOC),
    (SPAN, "10m", timedelta(minutes=10)),
    (SPAN, "400d", timedelta(days=400)),
    (END, "now", Now.NOW),
    (END, "2026-11-21T09:00:00Z", NINE),
    (FROM, "2026-11-21T10:00:00+01:00", NINE),
    (TO, "2026-11-21T09:00:00.5Z", NINE + timedelta(milliseconds=500)),
    (WEIGHT, "2.5", 2.5),
    (WEIGHTS, "1..5", (1, 5)),
    (PROFILE, "p-1", "p-1"),
    (METRIC, "inuse_objects", "inuse_objects"),
    (SHAPE, "bottomup", Shape.BOTTOM_UP),
    (FOCUS, "f" * 8000, "f" * 8000),
    (GROUP, "line", Group.LINE),
    (ROOT, "00f1e2d3c4b5a697", 0x00F1E2D3C4B5A697),
    (SORT, "name", Order.NAME),
    (FUNCTION_SORT, "-count", "-count"),
    (PROFILE_ORDER, "heaviest", ProfileOrder.HEAVIEST),
    (STEP, "6h", timedelta(hours=6)),
    (GROUP_BY, "zone", Grouping(GroupKind.ZONE)),
    (GROUP_BY, "label.a.b", Grouping(GroupKind.LABEL, "a.b")),
    (SPLIT, "sample.endpoint", Grouping(GroupKind.SAMPLE, "endpoint")),
    (CURSOR, "12~34~name", "12~34~name"),
]
GOOD_SEVERAL: list[tuple[Repeated[Any], list[str], tuple[object, ...]]] = [
    (ZONE, ["eu-1", "", "us-1"], ("eu-1", "us-1")),
    (VERSION, ["2", "1"], ("2", "1")),
    (UNSET, ["zone", "label.a"], (Grouping(GroupKind.ZONE), Grouping(GroupKind.LABEL, "a"))),
    (FUNCTION, ["main", "a.b"], ("main", "a.b")),
    (
        FILTER,
        ["hide:b", "show:/a|c/"],
        (ViewFilter(FilterOption.HIDE, "b"), ViewFilter(FilterOption.SHOW, "/a|c/")),
    ),
]
BAD: list[tuple[Parameter[Any, Any] | Repeated[Any], str]] = [
    *((TYPE, text) for text in ("cpu", "GPU")),
    *((SPAN, text) for text in ("forever", "0m", "401d", "-1h", "١h", "99999999999w")),
    *(
        (time, text)
        for time in (END, FROM, TO)
        for text in ("yesterday", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00")
    ),
    *((WEIGHT, text) for text in ("0", "101", "1e1", "nan")),
    *((WEIGHTS, text) for text in ("5..4", "-1..4", "4", "1..99999999999999999999")),
    *((choice, "odd") for choice in (SHAPE, GROUP, SORT, FUNCTION_SORT, PROFILE_ORDER)),
    (FUNCTION_SORT, "-odd"),
    *((ROOT, text) for text in ("7", "00F1E2D3C4B5A697")),
    (STEP, "soon"),
    *(
        (each, text)
        for each in (GROUP_BY, SPLIT, UNSET)
        for text in ("endpoint", "pod", "label.", "zone.a", "version.")
    ),
    *((FILTER, text) for text in ("only:main", "show", "show:", "show:/a(/")),
]
# The lenient policy replaces these values by similar ones.
FITTED: list[tuple[Parameter[Any, Any], str, object]] = [
    *((text, "x" * 5000, "x" * 512) for text in (SERVICE, PROFILE, METRIC)),
    (CURSOR, "x" * 5000, "x" * 120),
    *((time, "2026-11-21T09:00", NINE) for time in (END, FROM, TO)),
]


def named(cases: Sequence[tuple[Any, ...]]) -> list[str]:
    return [f"{parameter.name}={str(text)[:30]}" for parameter, text, *_ in cases]


def strict(name: str, *texts: str) -> StrictReader:
    return StrictReader((name, text) for text in texts)


def lenient(name: str, *texts: str) -> LenientReader:
    return LenientReader((name, text) for text in texts)


def declared(module: ModuleType) -> list[Parameter[Any, Any] | Repeated[Any]]:
    return [each for each in vars(module).values() if isinstance(each, (Parameter, Repeated))]


def test_the_tables_have_every_declared_parameter() -> None:
    tested = [each for each, _, _ in GOOD] + [each for each, _, _ in GOOD_SEVERAL]
    missing = [each for module in MODULES for each in declared(module) if each not in tested]
    assert missing == []


@pytest.mark.parametrize(("parameter", "text", "value"), GOOD, ids=named(GOOD))
def test_a_valid_value_is_the_same(
    parameter: Parameter[Any, Any], text: str, value: object
) -> None:
    of = lenient(parameter.name, text)
    assert strict(parameter.name, text).read(parameter) == of.read(parameter) == value
    assert of.issues == []


@pytest.mark.parametrize(("parameter", "texts", "found"), GOOD_SEVERAL, ids=named(GOOD_SEVERAL))
def test_several_valid_values_are_the_same(
    parameter: Repeated[Any], texts: list[str], found: tuple[object, ...]
) -> None:
    of = lenient(parameter.name, *texts)
    assert strict(parameter.name, *texts).several(parameter) == of.several(parameter) == found
    assert of.issues == []


@pytest.mark.parametrize("texts", [[], [""]])
def test_a_missing_and_an_empty_value_are_the_default(texts: list[str]) -> None:
    for parameter, _, _ in GOOD:
        of = lenient(parameter.name, *texts)
        assert strict(parameter.name, *texts).read(parameter) == parameter.default
        assert of.read(parameter) == parameter.default
        assert of.issues == []


@pytest.mark.parametrize(("parameter", "text"), BAD, ids=named(BAD))
def test_an_invalid_value_is_an_error_or_the_default(
    parameter: Parameter[Any, Any] | Repeated[Any], text: str
) -> None:
    of = lenient(parameter.name, text)
    if isinstance(parameter, Repeated):
        with pytest.raises(BadParameter, match=f"^{parameter.name}: "):
            strict(parameter.name, text).several(parameter)
        assert of.several(parameter) == ()
    else:
        with pytest.raises(BadParameter, match=f"^{parameter.name}: "):
            strict(parameter.name, text).read(parameter)
        assert of.read(parameter) == parameter.default
    assert [(issue.parameter, issue.text) for issue in of.issues] == [(parameter, text)]


@pytest.mark.parametrize(("parameter", "text", "value"), FITTED, ids=named(FITTED))
def test_the_lenient_policy_cuts_texts_and_adds_time_zones(
    parameter: Parameter[Any, Any], text: str, value: object
) -> None:
    of = lenient(parameter.name, text)
    assert of.read(parameter) == value
    assert of.issues == []
    with pytest.raises(BadParameter, match=f"^{parameter.name}: "):
        strict(parameter.name, text).read(parameter)


def test_a_value_given_twice_is_an_error_or_the_last_one_counts() -> None:
    for parameter, text, value in GOOD:
        with pytest.raises(BadParameter, match=f"^{parameter.name}: is given 2 times"):
            strict(parameter.name, "", text).read(parameter)
        assert lenient(parameter.name, "", text).read(parameter) == value


@pytest.mark.parametrize(
    "parameter", [ZONE, VERSION, FUNCTION, FILTER], ids=["zone", "version", "function", "f"]
)
def test_too_many_values_are_an_error_or_cut(parameter: Repeated[Any]) -> None:
    texts = [f"show:{count}" for count in range(parameter.most + 1)]
    with pytest.raises(BadParameter, match=f"^{parameter.name}: is given 51 times"):
        strict(parameter.name, *texts).several(parameter)
    found = lenient(parameter.name, *texts, *texts).several(parameter)
    assert found == tuple(parameter.parse(text) for text in texts[: parameter.most_used])


def test_labels_are_the_same_up_to_ten_names() -> None:
    pairs = [(f"label.{name}", value) for name in "cab" for value in ("1", "", "2")]
    expected = dict.fromkeys("abc", ("1", "2"))
    assert StrictReader(pairs).family(LABEL) == LenientReader(pairs).family(LABEL) == expected
    many = [(f"label.{count:02}", "x") for count in range(20)]
    assert len(StrictReader(many).family(LABEL)) == 20
    assert [*LenientReader(many).family(LABEL)] == [f"{count:02}" for count in range(10)]


def test_a_label_without_a_name_is_an_error_or_ignored() -> None:
    with pytest.raises(BadParameter, match=r"^label\.: has no name"):
        strict(LABEL.prefix, "x").family(LABEL)
    assert lenient(LABEL.prefix, "x").family(LABEL) == {}


@pytest.mark.parametrize("pair", [("service", "a\0b"), ("a\0b", "x"), ("label.\0", "x")])
def test_nul_is_an_error(pair: tuple[str, str]) -> None:
    with pytest.raises(BadParameter, match=": may not have the character NUL"):
        StrictReader([pair])


def test_each_parameter_has_a_meaning() -> None:
    every: list[Parameter[Any, Any] | Repeated[Any] | Family] = [LABEL]
    every += [each for module in MODULES for each in declared(module)]
    assert [each for each in every if not each.meaning] == []
