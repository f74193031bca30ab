"""Profile messages in responses of the Cloud Profiler API."""

from typing import TypedDict

from endpoints.json_message import format_duration, format_timestamp
from ingest.uploads.pipeline import StoredUpload


class DeploymentJson(TypedDict):
    projectId: str
    target: str
    labels: dict[str, str]


class ProfileJson(TypedDict, total=False):
    name: str
    profileType: str
    deployment: DeploymentJson
    duration: str
    labels: dict[str, str]
    startTime: str
    warnings: list[str]  # not part of Cloud Profiler's API; absent if there are none


def profile_name(project_id: str, name_id: str) -> str:
    return f"projects/{project_id}/profiles/{name_id}"


def deployment_json(project_id: str, target: str, labels: dict[str, str]) -> DeploymentJson:
    """Return the Deployment message, without empty labels: the Node.js agent rejects those."""
    non_empty = {name: value for name, value in labels.items() if value}
    return {"projectId": project_id, "target": target, "labels": non_empty}


def describe_stored(stored: StoredUpload) -> ProfileJson:
    """Describe a stored profile without its bytes, with warnings about what was left out of it."""
    target, new = stored.target, stored.profile
    message: ProfileJson = {
        "name": profile_name(target.project_id, new.name_id),
        "profileType": new.type.value,
        "deployment": deployment_json(target.project_id, target.service, target.labels),
        "duration": format_duration(new.duration_ns / 1e9),
        "labels": new.labels,
        "startTime": format_timestamp(new.time),
    }
    if stored.warnings:
        message["warnings"] = [*stored.warnings]
    return message
