"""Declarations of a page's parameters: read from a URL and written back."""

from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from endpoints.params import parameter, values
from endpoints.params.parameter import Repeated
from endpoints.params.reader import LenientReader
from endpoints.params.selection import LABEL, Labels
from frontend.params.url_parameter import (
    dependents,
    format_parameters,
    read_parameters,
    reset_display_parameters,
    url_flag,
    url_parameter,
)

COLOURS = parameter.choice("colour", "Colour", ("red", "blue"))
NAMES = Repeated("name", "Names", values.short)
SIZE = parameter.text("size", "Size")


@dataclass(frozen=True, slots=True)
class ExampleParams:
    title: str
    labels: Labels = url_parameter(LABEL)
    names: tuple[str, ...] = url_parameter(NAMES, format=str.lower, depends_on=["example"])
    colour: str = url_parameter(COLOURS, is_display_only=True)
    is_wide: bool = url_flag("width", "`wide` widens", "wide")
    size: str = url_parameter(SIZE, default="m", is_always_written=True)


def read(query: str) -> ExampleParams:
    return read_parameters(ExampleParams, LenientReader.from_query(QueryDict(query)), title="a")


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("", "size=m"),
        ("colour=red&width=no&size=", "size=m"),
        ("size=l&width=wide&colour=blue", "colour=blue&width=wide&size=l"),
        ("name=B&label.x=1&name=&name=A&label.x=2", "label.x=1&label.x=2&name=b&name=a&size=m"),
        ("colour=green", "size=m"),
    ],
)
def test_parameters_are_written_in_the_order_of_fields_without_defaults(
    query: str, written: str
) -> None:
    assert urlencode(format_parameters(read(query))) == written


def test_field_given_by_the_caller_is_not_read() -> None:
    reader = LenientReader([("colour", "green")])
    assert read_parameters(ExampleParams, reader, title="a", colour="blue").colour == "blue"
    assert reader.issues == []


def test_invalid_value_is_an_issue_and_has_the_default() -> None:
    reader = LenientReader([("colour", "green")])
    assert read_parameters(ExampleParams, reader, title="a").colour == "red"
    assert [issue.parameter.name for issue in reader.issues] == ["colour"]


def test_parameters_for_display_are_reset_to_their_default() -> None:
    example = reset_display_parameters(read("colour=blue&width=wide"))
    assert (example.colour, example.is_wide) == ("red", True)


def test_dependents_are_those_declared_by_their_fields() -> None:
    assert dependents()["example"] == ["name"]
