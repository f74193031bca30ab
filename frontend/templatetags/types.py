"""Template tags for profile types and their names."""

from collections.abc import Iterable

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from projects.profile_types import ProfileType

register = template.Library()

_NAMES: dict[str, Promise] = {
    "CPU": gettext_lazy("CPU"),
    "WALL": gettext_lazy("Wall"),
    "HEAP": gettext_lazy("Heap"),
    "PEAK_HEAP": gettext_lazy("Peak heap"),
    "HEAP_ALLOC": gettext_lazy("Alloc"),
    "CONTENTION": gettext_lazy("Lock"),
    "THREADS": gettext_lazy("Threads"),
}


@register.simple_tag
def profile_types() -> list[ProfileType]:
    return [*ProfileType]


@register.filter
def type_name(name: str) -> str:
    """Return a type's display name: `HEAP_ALLOC` is Alloc; unknown types stay unchanged."""
    return str(_NAMES.get(name, name))


@register.filter
def sort_types(names: Iterable[str]) -> list[str]:
    """Sort types in display order; unknown ones come last."""
    order = list(_NAMES)
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


@register.filter
def type_names(names: Iterable[str]) -> str:
    """Join display names, in display order: `CPU, Wall, Threads`."""
    return gettext(", ").join(type_name(name) for name in sort_types(names))
