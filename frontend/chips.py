"""The filters of the flame page as chips: what each does, and the address without it."""

from dataclasses import dataclass, replace

from frontend.addresses import flame_url
from frontend.selection import Asked
from frontend.view_filters import NAMES, filter_text, without
from profiles.query import FilterOption
from projects.models import Project


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


def chips(asked: Asked, project: Project) -> Chips:
    shown = [
        Chip(
            option=each.option,
            name=str(NAMES[each.option]),
            value=each.value,
            text=filter_text(each),
            without_url=flame_url(project, replace(asked, filters=without(asked.filters, i))),
        )
        for i, each in enumerate(asked.filters)
    ]
    return Chips(shown, [Option(option, str(NAMES[option])) for option in FilterOption])
