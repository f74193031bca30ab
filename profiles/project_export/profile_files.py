"""Merged pprof files of an hour of a series, one for each zone, version and set of labels."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from profiles.queries.context import QueryContext
from profiles.queries.deployments import get_deployments
from profiles.queries.exports import ExportFormat, run_export
from profiles.queries.merge_query import list_metrics
from profiles.queries.plan import ReadOptions, Trees, plan_query
from profiles.queries.scan import scan
from profiles.queries.selection import ProfileSelection, View
from projects.profile_types import ProfileType


class Hour(NamedTuple):
    """Profiles of one service and type, start <= time < end."""

    project: int  # Project.pk
    service: str
    type: str
    start: datetime
    end: datetime

    def select(self) -> ProfileSelection:
        return ProfileSelection(
            self.project, self.service, ProfileType(self.type), self.start, self.end
        )


@dataclass(frozen=True, slots=True)
class _DeploymentLabels:
    """Zone, version and labels of a profile, as a text that sorts; implements ProfileLabel."""

    deployments: Mapping[int, tuple[str, str]]  # zone and version by Deployment.pk

    def get_value(self, deployment: int, labels: Mapping[str, str]) -> str:
        zone, version = self.deployments.get(deployment, ("", ""))
        return json.dumps([zone, version, sorted(labels.items())])


def list_groups(context: QueryContext, hour: Hour) -> list[str]:
    """Return the groups that have profiles in the hour, sorted, without reading call trees."""
    selection = hour.select()
    with context.snapshot:
        metric = list_metrics(context, selection)[0]
        plan = plan_query(context, selection, ReadOptions(trees=Trees.NONE, day_blocks=False))
        label = _DeploymentLabels(
            {each.pk: (each.zone, each.version) for each in get_deployments(context)}
        )
        with scan(context, plan, metric, Trees.NONE) as inputs:
            found = {group for each in inputs for group, _ in each.split_by_value(label)}
    return sorted(found - {""})


def make_file(
    context: QueryContext, hour: Hour, group: str, names: tuple[str, ...]
) -> tuple[bytes, int, int]:
    """Return a pprof file of a group, the number of its profiles, and of those left out.

    `names` are the labels of all groups of the hour. Raise InvalidQuery if a limit is passed.
    """
    zone, version, pairs = json.loads(group)
    labels = dict(pairs)
    selection = ProfileSelection(
        hour.project,
        hour.service,
        ProfileType(hour.type),
        hour.start,
        hour.end,
        zones=(zone,),
        versions=(version,),
        labels=tuple((name, (labels.get(name, ""),)) for name in names),
    )
    file = run_export(context, selection, View(), ExportFormat.PPROF)
    return file.data, context.record.facts.profiles, file.left_out
