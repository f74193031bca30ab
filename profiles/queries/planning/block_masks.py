"""Masks over the columns of a block that mark the profiles of a selection."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks import DayBlock, HourBlock, ProfileColumns
from profiles.queries.planning.deployment_names import deployments_at_hand
from profiles.queries.selection import Selection
from profiles.storage.snapshot import once
from profiles.timestamps import micros
from projects.models import Deployment

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BlockSelection:
    """Selection with its zones and versions resolved to deployments, whose ids blocks store."""

    selection: Selection
    deployments: NDArray[np.int64] | None  # Deployment.pk; None: any

    def profiles(self, block: HourBlock, start: datetime, end: datetime) -> Mask:
        """Return a mask [P] of the matching profiles of an hour block with start <= time < end."""
        columns, selection = block.profiles, self.selection
        mask = (columns.time >= micros(max(start, selection.start))) & (
            columns.time < micros(min(end, selection.end))
        )
        mask &= self._of_deployments(columns.deployment)
        if selection.labels:
            mask &= self._labelled(columns)[columns.label_set]
        if selection.weights:
            lowest, highest = selection.weights
            mask &= (columns.weight >= lowest) & (columns.weight <= highest)
        if selection.profile:
            names = block.identities.name_id
            mask &= np.fromiter((name == selection.profile for name in names), bool, len(mask))
        return mask

    def groups(self, block: DayBlock) -> Mask:
        """Return a mask [G] of the matching groups of a day block that lies inside the range."""
        groups = block.groups
        mask = self._of_deployments(groups.deployment)
        if self.selection.labels:
            mask &= self._labelled(block.profiles)[groups.label_set]
        return mask

    def _of_deployments(self, deployment: NDArray[np.int64]) -> Mask:
        if self.deployments is None:
            return np.ones(len(deployment), bool)
        return np.isin(deployment, self.deployments)

    def _labelled(self, columns: ProfileColumns) -> Mask:
        """Return a mask over the block's label sets that marks those with the wanted labels."""
        asked = [(name, set(values)) for name, values in self.selection.labels]
        return np.array(
            [
                all(dict(labels).get(name) in values for name, values in asked)
                for labels in columns.label_sets
            ],
            bool,
        )


def block_selection(selection: Selection) -> BlockSelection:
    """Resolve a selection's deployments; an empty service means all services of the project."""
    if not selection.zones and not selection.versions:
        return BlockSelection(selection, None)
    of = selection.project, selection.service, selection.zones, selection.versions
    return BlockSelection(selection, once(("deployments", of), lambda: _deployments(*of)))


def _deployments(
    project: int, service: str, zones: Sequence[str], versions: Sequence[str]
) -> NDArray[np.int64]:
    """Return Deployment.pk of the matching deployments; an empty argument does not restrict."""
    at_hand = deployments_at_hand(project)
    if at_hand is not None:
        meant = [
            each.pk
            for each in at_hand
            if (not service or each.service == service)
            and (not zones or each.zone in zones)
            and (not versions or each.version in versions)
        ]
        return np.array(meant, np.int64)
    given = {"service": service, "zone__in": zones, "version__in": versions}
    rows = Deployment.objects.filter(
        project=project, **{name: value for name, value in given.items() if value}
    )
    return np.array(rows.values_list("pk", flat=True), np.int64)
