"""The row of the head that an upload becomes."""

from dataclasses import dataclass

from ingest.deployments import Target
from ingest.digesting import Packed
from ingest.when import When
from profiles.store.head import NewProfile
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose profile it is."""

    target: Target
    agent: int | None  # Agent.pk
    type: ProfileType
    labels: dict[str, str]


def row(origin: Origin, when: When, name_id: str, packed: Packed) -> NewProfile:
    target = origin.target
    return NewProfile(
        project=target.project,
        deployment=target.deployment,
        agent=origin.agent,
        service=target.service,
        type=origin.type,
        time=when.time,
        time_source=when.source,
        duration_ns=when.duration_ns,
        labels=origin.labels,
        name_id=name_id,
        body_hash=packed.body_hash,
        samples=packed.samples,
        weight=packed.weight,
        totals=packed.totals,
        tree=packed.tree,
    )
