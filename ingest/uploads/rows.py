"""Build the head row of an upload."""

from dataclasses import dataclass

from ingest.deployments import Target
from ingest.uploads.decoding import DecodedUpload
from ingest.uploads.profile_time import ProfileTime
from profiles.storage.head import NewProfile
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class UploadOrigin:
    """Deployment, agent, type and labels of an uploaded profile."""

    target: Target
    agent: int | None  # Agent.pk
    type: ProfileType
    labels: dict[str, str]


def row(
    origin: UploadOrigin,
    when: ProfileTime,
    name_id: str,
    packed: DecodedUpload,
    former_name_id: str = "",
) -> NewProfile:
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
        former_hash=packed.former_hash,
        former_name_id=former_name_id,
    )
