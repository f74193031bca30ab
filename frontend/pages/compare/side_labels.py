"""Labels of the two sides of a comparison: chips of the chosen values, and menus of others."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from endpoints.params.selection import UNSET, WEIGHT, WEIGHTS, parse_grouping
from frontend.components.results.comparisons import MENU_OF_SELECTED
from frontend.components.selection.picker import LabelField, Picker
from frontend.components.selection.restriction_chips import RestrictionChip, restriction_chips
from frontend.params.compare_params import CompareQuery
from frontend.params.page_params import PageParams

_MENU_IDS = ("labels-of-baseline", MENU_OF_SELECTED)
_OF_BOTH = frozenset({"metric"})  # restrictions that the sides have in common


@dataclass(frozen=True, slots=True)
class SideLink:
    """Chosen or offered value of a label; `query` is the query string after a click on it."""

    name: str
    value: str
    query: str
    is_chosen: bool = False
    opens: str = ""  # id of the menu in which the other side's value is chosen next


@dataclass(frozen=True, slots=True)
class SideLabels:
    menu_id: str
    chips: list[SideLink]
    menu: list[tuple[str, list[SideLink]]]  # (name of a label, its values)


@dataclass(frozen=True, slots=True)
class _Side:
    params: PageParams
    other: PageParams
    query_of: Callable[[PageParams], str]  # query string with this side replaced
    menu_ids: tuple[str, str]  # of this side, and of the other one


def side_labels(query: CompareQuery, pickers: tuple[Picker, Picker]) -> list[SideLabels]:
    """Return the labels of the baseline and of the selected side."""

    def replace_baseline(side: PageParams) -> str:
        return replace(query, baseline=side, before=False).parameters()

    def replace_selected(side: PageParams) -> str:
        return replace(query, selected=side, before=False).parameters()

    sides = (
        _Side(query.baseline, query.selected, replace_baseline, _MENU_IDS),
        _Side(query.selected, query.baseline, replace_selected, _MENU_IDS[::-1]),
    )
    return [
        SideLabels(side.menu_ids[0], _chips(side), [_label(side, each) for each in picker.labels])
        for side, picker in zip(sides, pickers, strict=True)
    ]


def chips_of_both(params: PageParams) -> list[RestrictionChip]:
    """Return the restrictions that both sides have, and those that a comparison leaves out."""
    chips = restriction_chips(params, "compare")
    return [chip for chip in chips if chip.reason or chip.parameter in _OF_BOTH]


def _chips(side: _Side) -> list[SideLink]:
    return [
        SideLink(chip.name, chip.value, side.query_of(_without(side.params, chip)))
        for chip in restriction_chips(side.params, "compare")
        if not chip.reason and chip.parameter not in _OF_BOTH
    ]


def _without(params: PageParams, chip: RestrictionChip) -> PageParams:
    if chip.parameter == WEIGHT.name:
        return replace(params, weight=None)
    if chip.parameter == WEIGHTS.name:
        return replace(params, weights=None)
    if chip.parameter == UNSET.name:
        return replace(params, unset=tuple(map(parse_grouping, chip.others)))
    return params.restrict_label(parse_grouping(chip.parameter), tuple(chip.others))


def _label(side: _Side, field: LabelField) -> tuple[str, list[SideLink]]:
    grouping = parse_grouping(field.parameter)
    has_other = field.parameter in {name for name, _value in side.other.pairs()}
    return field.name, [
        SideLink(
            field.name,
            value,
            side.query_of(side.params.restrict_label(grouping, (value,))),
            is_chosen=value in field.chosen,
            opens="" if has_other else side.menu_ids[1],
        )
        for value in dict.fromkeys([*filter(None, field.chosen), *field.offered])
    ]
