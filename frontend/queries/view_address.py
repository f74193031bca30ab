"""Changes of one parameter of a page's URL, which also drop the parameters that depend on it."""

from collections.abc import Iterable, Mapping, Sequence

from django.http import QueryDict

SIDE = "b."  # prefix of the parameters of the baseline of a comparison
LABEL = "label."  # stands for every label of profiles
SAMPLE = "sample."  # stands for every label of samples
FAMILIES = (LABEL, SAMPLE)
RANGE = "range"  # `from` and `to` together, selected at once on a chart
_ENDS = ("from", "to")
_REFRESH = ("seen",)  # parameters of a refresh request, which are not part of the page's state

# A changed parameter invalidates values that were chosen for its old value, so these are dropped.
# The browser reads the same table from the page (shell/view_address.js).
DEPENDENTS: Mapping[str, tuple[str, ...]] = {
    "service": (
        *("type", "zone", "version", LABEL, SAMPLE, "unset", "group_by", "split"),
        *("focus", "function", "b.zone", "b.version", "b.unset"),
    ),
    "type": ("metric", "weight", "weights", "profile", "root", "page", "b.weight", "b.weights"),
    RANGE: (*_ENDS, "span", "end", "profile", "step", "pick_from", "pick_to", "page"),
    "span": (*_ENDS, "step", "pick_from", "pick_to", "page"),
    "end": (*_ENDS, "pick_from", "pick_to", "page"),
    "zone": ("page",),
    "version": ("page",),
    LABEL: ("page",),
    SAMPLE: ("page",),
    "unset": ("page",),
    "group_by": ("page",),
    "step": ("page",),
    "metric": ("page",),
    "sort": ("page",),
    "weight": ("page",),
    "weights": ("page",),
    "order": ("page",),
    "pick_from": ("page",),
    "view": ("focus", "root", "frame"),
    "focus": ("view", "root", "frame"),
    "root": ("frame",),
    "split": ("root", "frame"),
    # Other filters do not change the ids of frames, so the zoom stays.
    "f=from": ("root", "frame"),
    "f=hideframes": ("root", "frame"),
    "function": ("top",),
    "top": ("function",),
}


def changed_address(address: QueryDict, parameter: str, values: Sequence[str]) -> QueryDict:
    """Return `address` with the parameter set to `values`, without the parameter's dependents.

    An empty value removes the parameter, except for the baseline of a comparison, where it means
    "all" whatever the selected side has. `range` takes the two values of `from` and `to`.
    """
    changed = address.copy()
    side = SIDE if parameter.startswith(SIDE) else ""
    own = parameter.removeprefix(SIDE)
    for name in _dependents(_sources(address, own, values)):
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


def state_of(address: QueryDict) -> QueryDict:
    """Return the address without the parameters that a refresh adds."""
    state = address.copy()
    for name in _REFRESH:
        state.pop(name, None)
    return state


def _sources(address: QueryDict, own: str, values: Sequence[str]) -> list[str]:
    """Return the keys of DEPENDENTS that the change affects: for filters, each filter's option."""
    for family in FAMILIES:
        if own.startswith(family):
            return [family]
    if own != "f":
        return [own]
    differing = set(address.getlist("f")) ^ set(values)
    return [f"f={each.partition(':')[0]}" for each in differing]


def _dependents(sources: Iterable[str]) -> set[str]:
    """Return all parameters that depend on the sources, directly or through another dependent."""
    found: set[str] = set()
    open_ = list(sources)
    while open_:
        for name in DEPENDENTS.get(open_.pop(), ()):
            if name not in found:
                found.add(name)
                open_.append(name)
    return found


def _means(name: str, found: str, changed: str) -> bool:
    if found == changed:
        return False
    return found.startswith(name) if name.endswith(FAMILIES) else found == name
