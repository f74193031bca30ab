"""JSON messages of the Cloud Profiler API v2, parsed and validated by pure functions.

The messages are defined in google/devtools/cloudprofiler/v2/profiler.proto;
docs/reference/wire-protocol.md describes the extensions.
"""

from dataclasses import dataclass

from endpoints import json_fields
from endpoints.errors import BadField
from endpoints.json_fields import Message
from ingest.cloud_profiler.labels import KEY_LABEL, WireDeployment, deployment, profile_labels
from projects.profile_types import ProfileType


@dataclass(frozen=True, slots=True)
class Handshake:
    """CreateProfileRequest: the profile types that an agent can capture, and its deployment."""

    types: frozenset[ProfileType]
    deployment: WireDeployment


@dataclass(frozen=True, slots=True)
class SentProfile:
    """Profile uploaded under an issued name, which determines its type and deployment."""

    body: bytes  # gzip pprof
    labels: dict[str, str]
    duration_ns: int | None


@dataclass(frozen=True, slots=True)
class OfflineProfile(SentProfile):
    """Profile uploaded without an issued name; it carries its type and deployment itself."""

    type: ProfileType
    deployment: WireDeployment
    start_ns: int | None  # Unix time


def key_label(message: Message) -> str:
    """Return the API key sent as a label, for agents that cannot send headers; "" without one."""
    found = message.get("deployment")
    labels = found.get("labels") if isinstance(found, dict) else None
    key = labels.get(KEY_LABEL) if isinstance(labels, dict) else None
    return key if isinstance(key, str) else ""


def handshake(message: Message) -> Handshake:
    return Handshake(_types(message), _deployment(message))


def sent_profile(message: Message) -> SentProfile:
    return profile_with(json_fields.octets(message, "profileBytes", "profileBytes"), message)


def profile_with(body: bytes, message: Message) -> SentProfile:
    """Return the profile with the given bytes; the message has its other fields."""
    if not body:
        raise BadField("profileBytes", "is missing: a pprof profile, gzip, in base64")
    return SentProfile(
        body=body,
        labels=profile_labels(message, "labels"),
        duration_ns=json_fields.duration_ns(message, "duration", "duration"),
    )


def offline_profile(message: Message) -> OfflineProfile:
    return offline_profile_of(sent_profile(message), message)


def offline_profile_of(sent: SentProfile, message: Message) -> OfflineProfile:
    """Return the profile with the type, deployment and start of its message."""
    return OfflineProfile(
        body=sent.body,
        labels=sent.labels,
        duration_ns=sent.duration_ns,
        type=_type(message),
        deployment=_deployment(message),
        start_ns=json_fields.time_ns(message, "startTime", "startTime"),
    )


def _deployment(message: Message) -> WireDeployment:
    found = json_fields.message(message, "deployment", "deployment")
    if found is None:
        raise BadField("deployment", "is missing")
    return deployment(found, "deployment")


def _type(message: Message) -> ProfileType:
    value = json_fields.get(message, "profileType")
    if value is None:
        raise BadField("profileType", "is missing")
    return json_fields.profile_type(value, "profileType")


def _types(message: Message) -> frozenset[ProfileType]:
    values = json_fields.get(message, "profileType")
    if values is None or values == []:
        raise BadField("profileType", "is missing: the types that the agent can capture")
    if not isinstance(values, list):
        values = [values]
    return frozenset(
        json_fields.profile_type(value, f"profileType[{i}]") for i, value in enumerate(values)
    )
