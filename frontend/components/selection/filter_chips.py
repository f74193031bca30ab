"""View models of the filter chips: each filter, and the filters that remain without it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from endpoints.params.view import filter_text
from profiles.query import FilterOption, ViewFilter

NAMES: dict[FilterOption, Promise] = {
    FilterOption.SHOW: _("Show stacks"),
    FilterOption.HIDE: _("Hide stacks"),
    FilterOption.FROM: _("Show from frame"),
    FilterOption.HIDE_FRAMES: _("Hide frames"),
    FilterOption.HIGHLIGHT: _("Highlight"),
}


@dataclass(frozen=True, slots=True)
class Chip:
    option: str  # as in the URL
    name: str
    value: str
    text: str  # value of the `f` parameter
    others: list[str]  # parameter values of the other filters


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    name: str


@dataclass(frozen=True, slots=True)
class Chips:
    chips: list[Chip]
    options: list[Option]  # filter options offered for a new filter


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
