"""Normalisation of the URLs that forms submit without JavaScript."""

from django.http import HttpRequest, HttpResponseRedirect, QueryDict

from frontend.params.view_address import SIDE

TOGETHER = "\x1f"  # separator of values that one menu entry selects together
_PARTS = ("f.option", "f.value", "at")
_REPLACED = ("span", "end")  # by `from` and `to`


def redirect_form(request: HttpRequest) -> HttpResponseRedirect | None:
    """Redirect a form's request to the normalised URL; None if the URL is normalised already."""
    if not _is_from_form(request.GET):
        return None
    return HttpResponseRedirect(f"{request.path}?{form_address(request.GET).urlencode()}")


def form_address(query: QueryDict) -> QueryDict:
    """Return the parameters that a form's fields stand for.

    `f.option` and `f.value` are one more filter; `at` is the time of an end other than `now`;
    `from` and `to` replace `span` and `end`; several values joined by TOGETHER are repeated; empty
    fields are left out.
    """
    address = QueryDict(mutable=True)
    replaced = _REPLACED if query.get("from") and query.get("to") else ()
    for name, texts in query.lists():
        side = SIDE if name.startswith(SIDE) else ""
        own = name.removeprefix(SIDE)
        if own in _PARTS or name in replaced:
            continue
        values = [value for text in texts for value in text.split(TOGETHER)]
        if own == "end":
            values = [query.get(f"{side}at") or v if v != "now" else v for v in values]
        # An empty value of the baseline means that it has none, whatever the selected side has.
        remaining = [v for v in values if side or (v and (own, v) != ("end", "now"))]
        if remaining:
            address.setlist(name, remaining)
    if query.get("f.value"):
        address.appendlist("f", f"{query.get('f.option', '')}:{query['f.value']}")
    return address


def _is_from_form(query: QueryDict) -> bool:
    names = {name.removeprefix(SIDE) for name in query}
    has_both = {"from", "to"} <= query.keys() and any(name in query for name in _REPLACED)
    return (
        has_both
        or not names.isdisjoint(_PARTS)
        or any(TOGETHER in value for _name, values in query.lists() for value in values)
    )
