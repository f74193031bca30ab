"""Filters as chips: what each does, and the address without it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from frontend.view_filters import NAMES, filter_text
from profiles.query import FilterOption, ViewFilter


@dataclass(frozen=True, slots=True)
class Chip:
    option: str  # as the address has it
    name: str
    value: str
    text: str  # of the parameter
    without_url: str


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    name: str


@dataclass(frozen=True, slots=True)
class Chips:
    chips: list[Chip]
    options: list[Option]  # what a new filter may do


def chips(filters: Sequence[ViewFilter], url_without: Callable[[int], str]) -> Chips:
    """`url_without`: the page's address without the filter at an index."""
    shown = [
        Chip(
            option=each.option,
            name=str(NAMES[each.option]),
            value=each.value,
            text=filter_text(each),
            without_url=url_without(i),
        )
        for i, each in enumerate(filters)
    ]
    return Chips(shown, [Option(option, str(NAMES[option])) for option in FilterOption])
