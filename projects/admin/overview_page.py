"""Start page of the admin: projects with volume and rejections, open requests, background jobs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import (
    Case,
    Count,
    F,
    FloatField,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Greatest, Lower, NullIf
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.amounts import bytes_text
from projects.admin.background_jobs import list_jobs
from projects.admin.quota_request_list import list_open_requests
from projects.admin.usage_columns import usage_columns
from projects.models import DayUsage, Project, User
from projects.usage.day_usage import utc_day
from projects.usage.limits import LimitName, list_general_rows, merge_quotas
from projects.usage.warnings import NEARLY_FULL

PAGE_SIZE = 50
_MAX_SEARCH = 100  # characters
_PERMISSION = "projects.view_project"

IndexView = Callable[..., HttpResponse]


@dataclass(frozen=True, slots=True)
class OverviewColumn:
    name: str  # in the URL
    label: Promise
    field: str  # annotation to sort by
    is_number: bool = False


COLUMNS = (
    OverviewColumn("name", gettext_lazy("Project"), "lower_name"),
    OverviewColumn("plan", gettext_lazy("Plan"), "plan__name"),
    OverviewColumn("profiles", gettext_lazy("Profiles today"), "profiles", is_number=True),
    OverviewColumn("stored", gettext_lazy("Stored"), "stored", is_number=True),
    OverviewColumn("share", gettext_lazy("Share of quota"), "share", is_number=True),
    OverviewColumn("rejected", gettext_lazy("Rejected today"), "rejected", is_number=True),
    OverviewColumn("last", gettext_lazy("Last upload (UTC)"), "last_day"),
    OverviewColumn("state", gettext_lazy("State"), "state"),
)
_DEFAULT_ORDER = "-rejected"
_STATES = (
    gettext_lazy("OK"),
    gettext_lazy("Rejecting"),
    gettext_lazy("Suspended"),
    gettext_lazy("Deleted by its owners"),
)


@dataclass(frozen=True, slots=True)
class HeadCell:
    column: OverviewColumn
    query: str  # that sorts by the column, or the other way round
    direction: str  # aria-sort; "" for other columns


@dataclass(frozen=True, slots=True)
class TenantRow:
    project: Project
    profiles: str
    stored: str
    allowed: str
    percent: float  # of the fullest quota: storage, or profiles per day
    is_nearly_full: bool
    rejected: str
    last_day: Any
    state: Promise


def add_overview(index: IndexView) -> IndexView:
    """Return the admin's index with the context of the overview, for those who may see projects."""

    def overview(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        context = dict(extra_context or {})
        if cast("User", request.user).has_perm(_PERMISSION):
            context |= _build_context(request)
        return index(request, context)

    return overview


def _build_context(request: HttpRequest) -> dict[str, Any]:
    search = request.GET.get("q", "").strip()[:_MAX_SEARCH]
    order = request.GET.get("o", _DEFAULT_ORDER)
    by_name = {column.name: column for column in COLUMNS}
    if order.removeprefix("-") not in by_name:
        order = _DEFAULT_ORDER
    column = by_name[order.removeprefix("-")]
    page, rows = _load_page(search, column, request.GET.get("p"), descending=order.startswith("-"))
    return {
        "title": _("Overview"),
        "overview": True,
        "search": search,
        "order": order,
        "heads": [_head_cell(each, search, order) for each in COLUMNS],
        "page_of_projects": page,
        "rows": rows,
        "previous_query": _query(search, order, page.number - 1),
        "next_query": _query(search, order, page.number + 1),
        "totals": _load_totals(),
        "requests": list_open_requests(),
        "jobs": list_jobs(),
        "may_decide": cast("User", request.user).has_perm("projects.change_project"),
    }


def _head_cell(column: OverviewColumn, search: str, order: str) -> HeadCell:
    is_sorted = order.removeprefix("-") == column.name
    descends = order.startswith("-")
    direction = ("descending" if descends else "ascending") if is_sorted else ""
    # Numbers begin with the largest.
    flips = not descends if is_sorted else column.is_number
    following = f"-{column.name}" if flips else column.name
    return HeadCell(column, _query(search, following, 1), direction)


def _query(search: str, order: str, page: int) -> str:
    parameters = {"q": search, "o": order, "p": str(page)}
    return "?" + urlencode({name: value for name, value in parameters.items() if value})


def _load_page(
    search: str, column: OverviewColumn, number: str | None, *, descending: bool
) -> tuple[Page[int], list[TenantRow]]:
    """Return a page and its rows by three statements: count, sorted primary keys, rows.

    What the sort does not need is computed for the rows of the page only.
    """
    projects = Project.objects.all()
    if search:
        projects = projects.filter(
            Q(project_id__icontains=search)
            | Q(name__icontains=search)
            | Q(pk__in=Project.objects.filter(members__user__email__icontains=search).values("pk"))
        )
    key = F(column.field)
    order = key.desc(nulls_last=True) if descending else key.asc(nulls_last=True)
    annotations = _annotations()
    ordered = _annotate(projects, annotations, column.field).order_by(order, "pk")
    paginator = Paginator(ordered.values_list("pk", flat=True), PAGE_SIZE)
    page = paginator.get_page(number)
    keys = list(page.object_list)
    rows = Project.objects.filter(pk__in=keys).select_related("plan").annotate(**annotations)
    by_pk = {row.pk: row for row in rows}
    return page, [_tenant_row(by_pk[pk]) for pk in keys if pk in by_pk]


def _annotate(
    projects: QuerySet[Project], annotations: dict[str, Any], field: str
) -> QuerySet[Project]:
    """Add the annotations that a field depends on."""
    needed = {
        "share": ("profiles", "stored", "allowed", "share"),
        "state": ("rejected", "state"),
    }.get(field, (field,))
    return projects.annotate(**{name: annotations[name] for name in needed if name in annotations})


def _annotations() -> dict[str, Any]:
    used = DayUsage.objects.filter(project=OuterRef("pk"), profiles__gt=0).order_by("-day")
    default = merge_quotas(list_general_rows(None))
    limits = {
        name: Coalesce(F(f"quota__{name}"), F(f"plan__{name}"), Value(default.get_limit(name)))
        for name in (LimitName.STORED_BYTES, LimitName.PROFILES_PER_DAY)
    }
    return {
        "lower_name": Lower("name"),
        **usage_columns(),
        "last_day": Subquery(used.values("day")[:1]),
        "allowed": limits[LimitName.STORED_BYTES],
        "share": Greatest(
            _share(F("stored"), F("allowed")),
            _share(F("profiles"), limits[LimitName.PROFILES_PER_DAY]),
        ),
        "state": Case(
            When(deletion_due__isnull=False, then=3),
            When(suspended__isnull=False, then=2),
            When(rejected__gt=0, then=1),
            default=0,
            output_field=IntegerField(),
        ),
    }


def _share(used: Any, limit: Any) -> Any:
    """Return the used share; a limit of 0 counts as fully used."""
    divisor = NullIf(Cast(limit, FloatField()), Value(0.0))
    return Coalesce(Cast(used, FloatField()) / divisor, Value(1.0))


def _tenant_row(project: Any) -> TenantRow:
    return TenantRow(
        project=project,
        profiles=f"{project.profiles:,}",
        stored=bytes_text(project.stored),
        allowed=bytes_text(project.allowed),
        percent=min(100.0, 100 * project.share),
        is_nearly_full=project.share >= NEARLY_FULL,
        rejected=f"{project.rejected:,}",
        last_day=project.last_day,
        state=_STATES[project.state],
    )


def _load_totals() -> dict[str, str]:
    """Return texts for the head of the page: sums of all projects."""
    today = Q(day=utc_day())
    sums = DayUsage.objects.aggregate(
        profiles_today=Sum("profiles", filter=today, default=0),
        rejected_today=Sum("rejected", filter=today, default=0),
        rejecting=Count("pk", filter=today & Q(rejected__gt=0)),
        stored=Sum("stored_bytes", default=0),
    )
    return {
        _("Profiles today"): f"{sums['profiles_today']:,}",
        _("Rejected today"): f"{sums['rejected_today']:,}",
        _("Projects that reject"): f"{sums['rejecting']:,}",
        _("Stored"): bytes_text(sums["stored"]),
    }
