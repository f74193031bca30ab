"""Controls above the graph: views, colours, order, metrics and downloads."""

from dataclasses import dataclass, replace

from django.urls import reverse
from django.utils.translation import gettext as _

from endpoints.params.lists import FUNCTION_SORT
from frontend.components.results.downloads import ENDINGS
from frontend.components.selection.label_menu import LabelMenu
from frontend.components.selection.picker import Item
from frontend.params.formats import is_reversed, next_sort
from frontend.params.page_params import PageParams
from frontend.text.display_names import metric_name
from profiles.query import Metric, TopResult
from projects.models import Project


@dataclass(frozen=True, slots=True)
class ControlChoice:
    name: str
    parameter: str
    value: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class SortColumn:
    key: str  # PageParams.sort_column; "" if the column is sorted with the one before it
    name: str
    sort: str  # value of the `sort` parameter
    order: str  # "ascending", "descending", or "" if not sorted by this column
    numeric: bool


@dataclass(frozen=True, slots=True)
class Download:
    name: str
    ending: str
    url: str


@dataclass(frozen=True, slots=True)
class Controls:
    views: list[ControlChoice]
    words: str  # one-line description of the chosen view
    metrics: list[Item]
    colours: list[Item]
    orders: list[Item]
    downloads: list[Download]
    embed_url: str  # of the page that makes an image for other sites
    splits: LabelMenu  # labels that the graph can be split by; empty for views without a split


def controls(params: PageParams, top: TopResult, project: Project, splits: LabelMenu) -> Controls:
    return Controls(
        views=_views(params, top),
        words=_words(params),
        metrics=_metrics(top.metrics, top.metric),
        colours=_colours(params),
        orders=_orders(params),
        downloads=downloads(params, project),
        embed_url=_embed_url(params, project),
        splits=splits,
    )


def _views(params: PageParams, top: TopResult) -> list[ControlChoice]:
    """Return the offered views.

    Sandwich needs a function: until one is chosen, it is the one with the largest self value.
    """
    first = top.rows[0].name if top.rows else ""
    sandwich = bool(params.focus)
    return [
        ControlChoice(_("Flame"), "view", "", not sandwich and params.view == "flame"),
        ControlChoice(
            _("Bottom-up"), "view", "bottomup", not sandwich and params.view == "bottomup"
        ),
        ControlChoice(_("Sandwich"), "focus", params.focus or first, sandwich),
        ControlChoice(_("List"), "view", "list", not sandwich and params.view == "list"),
    ]


def _words(params: PageParams) -> str:
    words = {
        "flame": _("Width = share of total; callees below callers"),
        "bottomup": _("Functions by self time, callers below"),
        "sandwich": _("One function: callers above, callees below"),
        "list": _("Self excludes callees; total includes them"),
    }
    return words["sandwich" if params.focus and params.view != "list" else params.view]


def _metrics(metrics: tuple[Metric, ...], shown: Metric) -> list[Item]:
    return _menu([Item(metric.name, metric_name(metric), metric == shown) for metric in metrics])


def _colours(params: PageParams) -> list[Item]:
    shown = [("package", _("Package")), ("self", _("Self")), ("total", _("Total"))]
    return _menu([Item(colour, name, params.colour == colour) for colour, name in shown])


def _orders(params: PageParams) -> list[Item]:
    shown = [("weight", _("By value")), ("name", _("By name"))]
    return _menu([Item(order, name, params.order == order) for order, name in shown])


def _menu(items: list[Item]) -> list[Item]:
    """Return a menu whose first item is the default, which URLs leave out."""
    return [replace(item, value=item.value if i else "") for i, item in enumerate(items)]


def columns(params: PageParams) -> list[SortColumn]:
    """Return the columns of the function list."""
    shown = [
        ("name", _("Function"), False),
        ("self", _("Self"), True),
        ("", _("Self %"), True),
        ("total", _("Total"), True),
        ("", _("Total %"), True),
        ("count", _("Stacks"), True),
    ]
    found, before = [], ""
    for key, name, numeric in shown:
        column = key or before
        order = _order(params) if key == params.sort_column else ""
        found.append(
            SortColumn(
                key, name, next_sort(params.sort, column, FUNCTION_SORT.default), order, numeric
            )
        )
        before = column
    return found


def _order(params: PageParams) -> str:
    return (
        "ascending" if is_reversed(params.sort) != (params.sort_column == "name") else "descending"
    )


def downloads(params: PageParams, project: Project) -> list[Download]:
    forms = {
        "pprof": "pprof",
        "folded": _("Folded stacks"),
        "speedscope": "speedscope",
        "csv": _("Function list"),
    }
    parameters = params.data_params().parameters()
    return [
        Download(
            forms[form],
            f".{ending}",
            f"{reverse('flame_download', args=[project.project_id, form])}?{parameters}",
        )
        for form, ending in ENDINGS.items()
    ]


def _embed_url(params: PageParams, project: Project) -> str:
    embed = reverse("embed", args=[project.project_id])
    return f"{embed}?{params.data_params().parameters()}"
