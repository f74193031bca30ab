"""List of single profiles: time, weight, agent, labels and a link to each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from common.time_text import time_text
from frontend.pages.profiles.params import ProfileQuery
from frontend.params.page_params import PageParams
from frontend.text.units import format_value
from profiles.query import (
    DEFAULT_METRICS,
    Coverage,
    ProfileRow,
    ProfileSelection,
    QueryContext,
    run_profiles,
)

PAGE_SIZE = 24  # rows of about 1 kB: a fragment stays below 30 kB
_LABELS = 3  # shown per profile; of the others only the number is
_AROUND = timedelta(seconds=1)  # length of a range for a single profile: URLs have whole seconds


@dataclass(frozen=True, slots=True)
class ProfileListRow:
    time: datetime
    weight: str
    bar: str  # percent of the heaviest profile on the page
    duration: str  # "" for an instantaneous type
    agent: str
    zone: str
    version: str
    labels: list[str]
    more_labels: int
    parameters: str  # query string of the flame page for this profile alone


@dataclass(frozen=True, slots=True)
class ProfileList:
    lines: list[ProfileListRow]
    coverage: Coverage
    picked_weights: str  # "2.7 s – 4.02 s"; "" without a weight selection
    instant: bool  # none of the profiles has a duration
    next_page: str  # value of the `page` parameter; "" on the last page


def list_profiles(
    context: QueryContext, query: ProfileQuery, selection: ProfileSelection
) -> ProfileList:
    """Query one page of profiles.

    Raise `DeadlinePassed`, or `InvalidQuery` if the page cursor is invalid.
    """
    result = run_profiles(context, selection, page=query.page, size=PAGE_SIZE, order=query.order)
    heaviest = max((row.weight for row in result.rows), default=0)
    unit = DEFAULT_METRICS[selection.type].unit
    return ProfileList(
        lines=[_line(row, query.params, unit, heaviest) for row in result.rows],
        coverage=result.coverage,
        picked_weights=_weights(query.params, unit),
        instant=not any(row.duration_ns for row in result.rows),
        next_page=result.next_page or "",
    )


def columns(selection: ProfileSelection) -> list[str]:
    """Return the CSV header for `table`."""
    metric = DEFAULT_METRICS[selection.type]
    weight = f"{metric.name} ({metric.unit})"
    return ["captured", weight, "seconds", "agent", "version", "zone", "labels", "name"]


def table(rows: Sequence[ProfileRow]) -> list[list[str | int | float]]:
    """Return CSV rows with untruncated values without units."""
    return [
        [
            time_text(row.time),
            row.weight,
            row.duration_ns / 10**9,
            row.agent,
            row.version,
            row.zone,
            " ".join(f"{name}={value}" for name, value in sorted(row.labels.items())),
            row.name_id,
        ]
        for row in rows
    ]


def _weights(params: PageParams, unit: str) -> str:
    return " – ".join(format_value(weight, unit) for weight in params.weights or ())


def _line(row: ProfileRow, params: PageParams, unit: str, heaviest: int) -> ProfileListRow:
    labels = [f"{name}={value}" for name, value in sorted(row.labels.items())]
    return ProfileListRow(
        time=row.time,
        weight=format_value(row.weight, unit),
        bar=f"{row.weight / heaviest * 100:.1f}%" if heaviest else "",
        duration=format_value(row.duration_ns, "nanoseconds") if row.duration_ns else "",
        agent=row.agent,
        zone=row.zone,
        version=row.version,
        labels=labels[:_LABELS],
        more_labels=len(labels[_LABELS:]),
        parameters=_alone(row, params).parameters(),
    )


def _alone(row: ProfileRow, params: PageParams) -> PageParams:
    """Return parameters for the profile alone, in the smallest range of whole seconds around it."""
    end = row.time.replace(microsecond=0) + _AROUND
    alone = replace(params.drop_profile_labels(), weight=None, weights=None)
    return replace(alone, profile=row.name_id, span=_AROUND, end=end)
