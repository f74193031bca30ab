"""Filter for the profiles of a block, as masks over its columns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.day import DayBlock
from profiles.engine.blocks.hour import HourBlock
from profiles.engine.blocks.sections.profile_columns import ProfileColumns

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Profiles with start <= time < end that pass every restriction; times in µs since 1970."""

    start: int
    end: int
    deployments: NDArray[np.int64] | None = None  # Deployment.pk; None: any
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (name, allowed values), "": absent
    weights: tuple[int, int] | None = None  # least and greatest weight, both inclusive
    profile: str = ""  # name of a single profile; "": any

    def profiles(self, block: HourBlock, start: int, end: int) -> Mask:
        """Return a mask [P] of the matching profiles of an hour block with start <= time < end."""
        columns = block.profiles
        mask = (columns.time >= max(start, self.start)) & (columns.time < min(end, self.end))
        mask &= self._match_deployments(columns.deployment)
        if self.labels:
            mask &= self._label_sets(columns)[columns.label_set]
        if self.weights:
            lowest, highest = self.weights
            mask &= (columns.weight >= lowest) & (columns.weight <= highest)
        if self.profile:
            names = block.names
            mask &= np.fromiter((name == self.profile for name in names), bool, len(mask))
        return mask

    def groups(self, block: DayBlock) -> Mask:
        """Return a mask [G] of the matching groups of a day block that lies inside the range."""
        groups = block.groups
        mask = self._match_deployments(groups.deployment)
        if self.labels:
            mask &= self._label_sets(block.profiles)[groups.label_set]
        return mask

    def _match_deployments(self, deployment: NDArray[np.int64]) -> Mask:
        if self.deployments is None:
            return np.ones(len(deployment), bool)
        return np.isin(deployment, self.deployments)

    def _label_sets(self, columns: ProfileColumns) -> Mask:
        """Return a mask over the block's label sets that marks those with allowed labels."""
        allowed = [(name, set(values)) for name, values in self.labels]
        return np.array(
            [
                all(dict(labels).get(name, "") in values for name, values in allowed)
                for labels in columns.label_sets
            ],
            bool,
        )
