"""Names of profile types as people read them."""

from collections.abc import Iterable

from django import template
from django.utils.functional import Promise
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

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


@register.filter
def type_name(name: str) -> str:
    """`HEAP_ALLOC` is Alloc; an unknown one is shown as it is."""
    return str(_NAMES.get(name, name))


@register.filter
def in_order(names: Iterable[str]) -> list[str]:
    """In the order of the interface; unknown ones last."""
    order = list(_NAMES)
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


@register.filter
def type_names(names: Iterable[str]) -> str:
    """`CPU, Wall and Threads`, in the order of the interface."""
    return get_text_list([type_name(name) for name in in_order(names)], _("and"))
