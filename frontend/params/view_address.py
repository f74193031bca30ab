"""Changes of one parameter of a page's URL, which also drop the parameters that depend on it.

A parameter that was chosen for the old value of another one is not valid for the new value
(`depends_on` of url_parameter.py). The browser reads the same table of dependents from the page
(shell/view_address.js).
"""

from collections.abc import Iterable, Sequence

from django.http import QueryDict

from frontend.params.url_parameter import get_dependents

SIDE = "b."  # prefix of the parameters of the baseline of a comparison
LABEL = "label."  # stands for every label of profiles
SAMPLE = "sample."  # stands for every label of samples
FAMILIES = (LABEL, SAMPLE)
RANGE = "range"  # `from` and `to` together, selected at once on a chart
_ENDS = ("from", "to")
_REFRESH = ("seen",)  # parameters of a refresh request, which are not part of the page's state


def change_address(address: QueryDict, parameter: str, values: Sequence[str]) -> QueryDict:
    """Return `address` with the parameter set to `values`, without the parameter's dependents.

    An empty value removes the parameter, except for the baseline of a comparison, where it means
    "all" whatever the selected side has. `range` takes the two values of `from` and `to`.
    """
    changed = address.copy()
    side = SIDE if parameter.startswith(SIDE) else ""
    own = parameter.removeprefix(SIDE)
    for name in _all_dependents(_sources(address, own, values)):
        for found in [each for each in changed if _means(side + name, each, side + own)]:
            del changed[found]
    if own == RANGE:
        for end, value in zip(_ENDS, values, strict=True):
            changed[side + end] = value
        return changed
    remaining = [value for value in values if value or side]
    if remaining:
        changed.setlist(parameter, remaining)
    else:
        changed.pop(parameter, None)
    return changed


def page_state(address: QueryDict) -> QueryDict:
    """Return the address without the parameters that a refresh adds."""
    state = address.copy()
    for name in _REFRESH:
        state.pop(name, None)
    return state


def _sources(address: QueryDict, own: str, values: Sequence[str]) -> list[str]:
    """Return the declared sources that the change affects: for filters, each filter's option."""
    for family in FAMILIES:
        if own.startswith(family):
            return [family]
    if own != "f":
        return [own]
    differing = set(address.getlist("f")) ^ set(values)
    return [f"f={each.partition(':')[0]}" for each in differing]


def _all_dependents(sources: Iterable[str]) -> set[str]:
    """Return all parameters that depend on the sources, directly or through another dependent."""
    found: set[str] = set()
    open_ = list(sources)
    while open_:
        for name in get_dependents(open_.pop()):
            if name not in found:
                found.add(name)
                open_.append(name)
    return found


def _means(name: str, found: str, changed: str) -> bool:
    if found == changed:
        return False
    return found.startswith(name) if name.endswith(FAMILIES) else found == name
