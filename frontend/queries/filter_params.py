"""Filters of an address: `f=show:value`, in order and repeated."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from profiles.query import FilterOption, ViewFilter, matcher

MOST = 20  # in one address

NAMES: dict[FilterOption, Promise] = {
    FilterOption.SHOW: _("Show stacks"),
    FilterOption.HIDE: _("Hide stacks"),
    FilterOption.FROM: _("Show from frame"),
    FilterOption.HIDE_FRAMES: _("Hide frames"),
    FilterOption.HIGHLIGHT: _("Highlight"),
}


def parse_filter(text: str) -> ViewFilter:
    """`option:value`; ValueError for another option, BadPattern where the value cannot be used."""
    option, _colon, value = text.partition(":")
    found = ViewFilter(FilterOption(option), value)
    matcher(value)
    return found


def filter_text(of: ViewFilter) -> str:
    """What parse_filter reads as this filter."""
    return f"{of.option}:{of.value}"
