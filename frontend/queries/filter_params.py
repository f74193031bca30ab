"""View filters in URLs: `f=show:value`, ordered and repeatable."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from profiles.query import FilterOption, ViewFilter, matcher

MOST = 20  # filters per URL

NAMES: dict[FilterOption, Promise] = {
    FilterOption.SHOW: _("Show stacks"),
    FilterOption.HIDE: _("Hide stacks"),
    FilterOption.FROM: _("Show from frame"),
    FilterOption.HIDE_FRAMES: _("Hide frames"),
    FilterOption.HIGHLIGHT: _("Highlight"),
}


def parse_filter(text: str) -> ViewFilter:
    """Parse `option:value`.

    Raise `ValueError` for an unknown option, `BadFilterPattern` for an invalid value.
    """
    option, _colon, value = text.partition(":")
    found = ViewFilter(FilterOption(option), value)
    matcher(value)
    return found


def filter_text(of: ViewFilter) -> str:
    """Format a filter as `parse_filter` reads it."""
    return f"{of.option}:{of.value}"
