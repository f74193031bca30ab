"""Menu of the functions that a history shows: the top ones, or selected ones."""

from dataclasses import dataclass

from django.utils.translation import ngettext

from frontend.pages.history.params import MOST_CHOSEN, HistoryQuery


@dataclass(frozen=True, slots=True)
class FunctionChoice:
    name: str
    values: list[str]  # values of the `function` or `top` parameter
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class FunctionsMenu:
    """Menu of functions: the top ones, or the selected ones."""

    now: str  # current choice
    tops: list[FunctionChoice]
    chosen: list[FunctionChoice]  # each with the parameter values that remain without it
    full: bool  # the maximum number of functions is selected


def build_functions_menu(query: HistoryQuery) -> FunctionsMenu:
    selected = query.functions
    return FunctionsMenu(
        now=_format_selected(len(selected)) if selected else _format_top(query.top),
        tops=[
            FunctionChoice(
                _format_top(count),
                [f"{count}"] if count != MOST_CHOSEN else [],  # the default of `top`
                not selected and query.top == count,
            )
            for count in (MOST_CHOSEN, 3, 1)
        ],
        chosen=[
            FunctionChoice(name, [each for each in selected if each != name]) for name in selected
        ],
        full=len(selected) >= MOST_CHOSEN,
    )


def _format_top(count: int) -> str:
    return ngettext("the top function by self", "top %(n)d by self", count) % {"n": count}


def _format_selected(count: int) -> str:
    return ngettext("%(n)d selected", "%(n)d selected", count) % {"n": count}
