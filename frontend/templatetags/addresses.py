"""Template tags for the current page's URL with changed parameters."""

import json
from collections.abc import Iterable, Sequence
from typing import Protocol

from django import template
from django.http import HttpRequest
from django.template import RequestContext
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from frontend.params import url_parameter
from frontend.params.page_links import Carried, read_carried_range
from frontend.params.restrictions import PAGES_OF_PROFILES
from frontend.params.view_address import FAMILIES, change_address, page_state

register = template.Library()


class Query(Protocol):
    def address(self, **changed: str | int) -> str: ...


@register.simple_tag
def list_address(query: Query, **values: str | int) -> str:
    """Return the query string with changed values: `{% list_address query sort="last" %}`."""
    return query.address(**values)


@register.simple_tag(takes_context=True)
def change(context: RequestContext, *pairs: str | Iterable[str]) -> SafeString:
    """Write the attributes of a link that changes only the given parameters of the URL.

    `<a {% change "view" "list" %}>`: parameters and values in turn; a list is a repeated parameter.
    A script applies the changes to the URL at the time of the click.
    """
    changes = _changes(pairs)
    return format_html('href="{}" data-changes="{}"', _url(context, changes), json.dumps(changes))


@register.simple_tag(takes_context=True)
def change_url(context: RequestContext, *pairs: str | Iterable[str]) -> str:
    """Return the URL alone, for a link that htmx or another script follows."""
    return _url(context, _changes(pairs))


def _changes(pairs: Sequence[str | Iterable[str]]) -> list[tuple[str, list[str]]]:
    return [
        (str(name), [value] if isinstance(value, str) else [str(each) for each in value])
        for name, value in zip(pairs[::2], pairs[1::2], strict=True)
    ]


def _url(context: RequestContext, changes: Iterable[tuple[str, list[str]]]) -> str:
    request: HttpRequest = context["request"]
    address = page_state(request.GET)
    for name, values in changes:
        address = change_address(address, name, values)
    return f"?{address.urlencode()}"


@register.simple_tag(takes_context=True)
def page_link(context: RequestContext, page: str, project_id: str) -> SafeString:
    """Write the attributes of a link to another page, which shows the range of this one.

    `data-carries` says which parameters shell/nav.js updates when this page's range changes.
    """
    carried: Carried = context.get("carried") or read_carried_range(context["request"])
    query = carried.parameters(page)
    return format_html(
        'href="{}{}" data-carries="{}"',
        reverse(page, args=[project_id]),
        f"?{query}" if query else "",
        "new" if page == "compare" else "all" if page in PAGES_OF_PROFILES else "range",
    )


@register.simple_tag(takes_context=True)
def carries(context: RequestContext) -> SafeString:
    """Write the query strings of the navigation's links as attributes, for shell/nav.js."""
    carried: Carried = context["carried"]
    return format_html(
        'data-carried-all="{}" data-carried-new="{}" data-carried-range="{}"',
        carried.parameters("flame"),
        carried.parameters("compare"),
        carried.parameters("services"),
    )


@register.simple_tag(takes_context=True)
def rest_of_address(context: RequestContext, names: str) -> SafeString:
    """Write the parameters that a form has no field for as hidden fields.

    For browsers without scripts, inside `<noscript>`: `{% rest_of_address "service type label." %}`
    names the form's own fields, and parameters that those replace.
    """
    own = set(names.split())
    families = tuple(own.intersection(FAMILIES))
    request: HttpRequest = context["request"]
    rest = [
        (name, value)
        for name, values in page_state(request.GET).lists()
        for value in values
        if name not in own and not name.startswith(families)
    ]
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', rest)


@register.simple_tag
def dependents() -> SafeString:
    """Write the table of dependent parameters for shell/view_address.js."""
    return format_html(
        '<meta name="dependents" content="{}">', json.dumps(url_parameter.dependents())
    )
