"""Filters as chips: what each does, and the filters that stay without it."""

from collections.abc import Sequence
from dataclasses import dataclass

from frontend.queries.filter_params import NAMES, filter_text
from profiles.query import FilterOption, ViewFilter


@dataclass(frozen=True, slots=True)
class Chip:
    option: str  # as the address has it
    name: str
    value: str
    text: str  # of the parameter
    others: list[str]  # texts of the other filters


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    name: str


@dataclass(frozen=True, slots=True)
class Chips:
    chips: list[Chip]
    options: list[Option]  # what a new filter may do


def chips(filters: Sequence[ViewFilter]) -> Chips:
    texts = [filter_text(each) for each in filters]
    shown = [
        Chip(
            option=each.option,
            name=str(NAMES[each.option]),
            value=each.value,
            text=texts[i],
            others=texts[:i] + texts[i + 1 :],
        )
        for i, each in enumerate(filters)
    ]
    return Chips(shown, [Option(option, str(NAMES[option])) for option in FilterOption])
