"""Lists of findings and of detection limits, as the page shows them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _

from findings import listing
from findings.costs import ServiceCosts, load_costs
from findings.models import (
    AnalysisStatus,
    Direction,
    FindingState,
    ServiceDetection,
)
from frontend.components.results.pagination import Pages, paginate
from frontend.pages.findings.finding_texts import CORES, FindingTexts
from frontend.pages.findings.params import FindingsQuery
from frontend.text.display_names import type_name
from frontend.text.money import describe_core_hour, format_money_delta
from frontend.text.units import format_delta, format_percent
from projects.models import Project
from projects.profile_types import ProfileType

ROWS = 50  # of a page


@dataclass(frozen=True, slots=True)
class DetectionLimit:
    """Analysis of a service and type in words."""

    service: str
    type: str
    profiles_a_day: float
    detectable: str  # "" if nothing is known
    text: str
    is_weak: bool


@dataclass(frozen=True, slots=True)
class FindingList:
    rows: Sequence[FindingTexts]
    pages: Pages
    counts: dict[str, int]  # of open findings, by direction
    new: int
    total: str  # of the open findings of the direction: "+10.1 cores, +€252 a month"
    core_hour: str  # price; "" if it is not set
    limits: Sequence[DetectionLimit]
    services: Sequence[str]
    is_learning: bool  # no service has been analyzed yet


def build_list(project: Project, query: FindingsQuery) -> FindingList:
    matching = listing.find_findings(
        project.pk, query.build_filter(), listing.FindingOrder(query.sort)
    )
    pages = paginate(matching.count(), ROWS, query.page)
    costs = load_costs(project.pk, timezone.now())
    detections = listing.list_detections(project)
    by_state = {each: listing.count_states(project.pk, each) for each in Direction}
    return FindingList(
        rows=[FindingTexts(project, row, costs) for row in matching[pages.first : pages.behind]],
        pages=pages,
        counts={
            each.value: states[FindingState.NEW] + states[FindingState.ACKNOWLEDGED]
            for each, states in by_state.items()
        },
        new=by_state[Direction(query.direction)][FindingState.NEW],
        total=_describe_total(project, costs, Direction(query.direction)),
        core_hour=describe_core_hour(costs.prices),
        limits=_list_limits(detections),
        services=sorted({each.service for each in detections}),
        is_learning=not any(each.status == AnalysisStatus.ANALYZED for each in detections),
    )


def _describe_total(project: Project, costs: ServiceCosts, direction: Direction) -> str:
    """Return the cost of all open findings of a direction; "" if nothing is known of it."""
    total = costs.sum_open(project.pk, direction)
    if total.cores is None:
        return ""
    cores = format_delta(total.cores, CORES)
    if total.money is None:
        return cores
    money = format_money_delta(total.money, costs.prices.currency)
    return _("%(cores)s, %(money)s a month") % {"cores": cores, "money": money}


def _list_limits(detections: Sequence[ServiceDetection]) -> list[DetectionLimit]:
    """Return the limits, those of the smallest detectable changes first."""
    ordered = sorted(detections, key=lambda each: (each.detectable is None, each.detectable or 0))
    return [_build_limit(each) for each in ordered]


def _build_limit(detection: ServiceDetection) -> DetectionLimit:
    detectable = detection.detectable
    is_known = detection.status == AnalysisStatus.ANALYZED and detectable is not None
    words = format_percent(detectable or 0, 1) if is_known else ""
    return DetectionLimit(
        service=detection.service,
        type=type_name(ProfileType(detection.type)),
        profiles_a_day=detection.profiles_a_day,
        detectable=words,
        text=_describe_limit(detection, words),
        is_weak=not is_known or detection.misses_changes,
    )


def _describe_limit(detection: ServiceDetection, detectable: str) -> str:
    match detection.status:
        case AnalysisStatus.LITTLE_HISTORY:
            return _("Too little history: five days of ten need profiles")
        case AnalysisStatus.FAILED:
            return detection.problem
    if not detectable:
        return _("No function has about %(share)s of this service") % {
            "share": format_percent(1, 100)
        }
    if detection.misses_changes:
        return _("Too few samples to see changes below %(change)s") % {"change": detectable}
    return _("Changes of %(change)s or more are found within two days") % {"change": detectable}
