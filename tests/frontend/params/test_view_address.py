"""Change one parameter of a URL and its dependents, identically in Python and in the browser."""

import json

import pytest
from django.http import QueryDict
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import urls
from frontend.params.form_address import form_address
from frontend.params.url_parameter import dependents
from frontend.params.view_address import change_address
from tests.node import run_module
from tests.paths import STATIC

assert urls.urlpatterns  # the modules of all pages declare their parameters
DEPENDENTS = dependents()
MODULE = STATIC / "shell" / "view_address.js"
SCRIPT = """
const [module, input] = process.argv.slice(1);
const { changedAddress } = await import(module);
const { dependents, cases } = JSON.parse(input);
const found = cases.map(([query, parameter, values]) =>
  new URL(changedAddress(`http://h/?${query}`, parameter, values, dependents)).search.slice(1));
console.log(JSON.stringify(found));
"""
NAMES = (
    *("service", "type", "zone", "version", "label.instance", "from", "to", "span", "end"),
    *("weight", "weights", "profile", "metric", "view", "focus", "root", "frame", "search"),
    *("sort", "order", "colour", "recursion", "all", "side", "values", "real", "step", "show"),
    "flip",
    *("function", "top", "hide", "page", "table", "pick_from", "pick_to", "b.zone", "b.version"),
    *("b.span", "b.end", "b.label.instance", "b.weight", "unset", "b.unset"),
)
filters = st.sampled_from(["show:a", "hide:b", "from:c", "hideframes:d", "highlight:/e|f/"])
addresses = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["1", "a b", "é&=", "x"])), max_size=12
)
changes = st.one_of(
    st.tuples(
        st.sampled_from([name for name in NAMES if name not in {"span", "end", "b.span", "b.end"}]),
        st.lists(st.sampled_from(["", "1", "new"]), min_size=1, max_size=2),
    ),
    st.tuples(st.just("f"), st.lists(filters, max_size=3)),
    st.tuples(st.just("range"), st.just(["2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z"])),
)


def after(address: str, parameter: str, *values: str) -> str:
    return change_address(QueryDict(address), parameter, values).urlencode(safe="/:")


@pytest.mark.parametrize(
    ("parameter", "values", "expected"),
    [
        ("metric", ["wall"], "service=a&type=CPU&zone=eu&root=1&f=show:x&metric=wall"),
        ("type", ["HEAP"], "service=a&type=HEAP&zone=eu&f=show:x"),
        ("service", ["b"], "service=b&f=show:x"),
        ("zone", [""], "service=a&type=CPU&root=1&f=show:x&metric=cpu"),
        (
            "f",
            ["show:x", "hide:y"],
            "service=a&type=CPU&zone=eu&root=1&f=show:x&f=hide:y&metric=cpu",
        ),
        ("f", ["show:x", "from:y"], "service=a&type=CPU&zone=eu&f=show:x&f=from:y&metric=cpu"),
        ("f", [], "service=a&type=CPU&zone=eu&root=1&metric=cpu"),
    ],
)
def test_change_drops_only_the_dependents_of_the_parameter(
    parameter: str, values: list[str], expected: str
) -> None:
    address = "service=a&type=CPU&zone=eu&root=1&f=show:x&metric=cpu"
    assert after(address, parameter, *values) == expected


def test_a_range_replaces_span_and_end() -> None:
    assert after("span=1h&end=x&zone=eu&profile=1", "range", "F", "T") == "zone=eu&from=F&to=T"


def test_an_empty_value_of_the_second_side_stays() -> None:
    assert after("version=1", "b.version", "") == "version=1&b.version="


@given(addresses, changes)
def test_change_of_any_parameter_keeps_the_independent_ones(
    pairs: list[tuple[str, str]], change: tuple[str, list[str]]
) -> None:
    before = QueryDict(mutable=True)
    for name, value in pairs:
        before.appendlist(name, value)
    parameter, values = change
    result = change_address(before, parameter, values)
    removed = {name for name in before if name not in result} - {parameter}
    added = {name for name in result if name not in before}
    assert added <= ({"from", "to"} if parameter == "range" else {parameter})
    unchanged = set(before) & set(result) - {parameter, "from", "to"}
    assert all(before.getlist(name) == result.getlist(name) for name in unchanged)
    if parameter not in DEPENDENTS and not parameter.startswith(("f", "label.", "b.")):
        assert not removed


def test_browser_and_server_change_urls_identically() -> None:
    cases: list[tuple[str, str, list[str]]] = []

    @settings(max_examples=100)
    @given(st.lists(st.tuples(addresses, changes), min_size=1, max_size=1))
    def collect(found: list[tuple[list[tuple[str, str]], tuple[str, list[str]]]]) -> None:
        for pairs, (parameter, values) in found:
            query = QueryDict(mutable=True)
            for name, value in pairs:
                query.appendlist(name, value)
            cases.append((query.urlencode(), parameter, values))

    collect()
    data = json.dumps({"dependents": DEPENDENTS, "cases": cases})
    addresses_in_browser = json.loads(run_module(SCRIPT, str(MODULE), data))
    assert len(cases) > 50
    for (query, parameter, values), found in zip(cases, addresses_in_browser, strict=True):
        expected = change_address(QueryDict(query), parameter, values)
        assert sorted(QueryDict(found).lists()) == sorted(expected.lists()), (query, parameter)


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("service=a&zone=&end=now&at=2026-11-20T10:00", "service=a"),
        ("end=2026-11-19T10:00:00Z&at=2026-11-20T10:00", "end=2026-11-20T10:00"),
        ("end=at&at=2026-11-20T10:00", "end=2026-11-20T10:00"),
        ("f=show:a&f.option=hide&f.value=b", "f=show:a&f=hide:b"),
        ("f.option=hide&f.value=", ""),
        ("zone=eu%1Fus&version=", "zone=eu&zone=us"),
        ("b.version=&b.end=now&b.at=2026-11-20T10:00&version=", "b.version=&b.end=now"),
    ],
)
def test_form_fields_are_converted_to_url_parameters(sent: str, meant: str) -> None:
    assert form_address(QueryDict(sent)).urlencode(safe=":") == meant
