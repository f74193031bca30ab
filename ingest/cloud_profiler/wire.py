"""JSON messages of the Cloud Profiler API v2, parsed and validated by pure functions.

Targets and labels of deployments have the syntax and size limits of that API. The messages are
defined in google/devtools/cloudprofiler/v2/profiler.proto;
docs/reference/wire-protocol.md describes the extensions.
"""

import re
from dataclasses import dataclass

from endpoints import json_message
from endpoints.errors import BadField
from endpoints.json_message import Message
from projects.profile_types import ProfileType
from projects.registration.registry import DeploymentKey

# Label that carries the API key of agents that cannot send headers (Java without TLS).
KEY_LABEL = "api-key"

_TARGET = re.compile(r"[a-z0-9]([-a-z0-9_.]{0,253}[a-z0-9])?")
_LABEL_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")
_MAX_LABEL_VALUE_BYTES = 512
_MAX_LABELS_BYTES = 1024  # names and values together


@dataclass(frozen=True, slots=True)
class WireDeployment:
    """Target and labels of a deployment, without the label that some agents use for the API key."""

    target: str
    labels: dict[str, str]

    @property
    def key(self) -> DeploymentKey:
        return DeploymentKey(
            service=self.target,
            zone=self.labels.get("zone") or self.labels.get("region", ""),
            version=self.labels.get("version", ""),
            language=self.labels.get("language", ""),
        )


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


def get_key_label(message: Message) -> str:
    """Return the API key sent as a label, for agents that cannot send headers; "" without one."""
    found = message.get("deployment")
    labels = found.get("labels") if isinstance(found, dict) else None
    key = labels.get(KEY_LABEL) if isinstance(labels, dict) else None
    return key if isinstance(key, str) else ""


def parse_handshake(message: Message) -> Handshake:
    return Handshake(_read_types(message), _read_deployment(message))


def parse_sent_profile(message: Message) -> SentProfile:
    return build_sent_profile(_read_profile_bytes(message), message)


def build_sent_profile(body: bytes, message: Message) -> SentProfile:
    """Return the profile whose pprof is `body` and whose other fields are in the message."""
    if not body:
        raise BadField("profileBytes", "is missing: a pprof profile, gzip, in base64")
    return SentProfile(
        body=body,
        labels=parse_profile_labels(message, "labels"),
        duration_ns=json_message.read_duration_ns(message, "duration", "duration"),
    )


def parse_offline_profile(message: Message) -> OfflineProfile:
    return build_offline_profile(_read_profile_bytes(message), message)


def build_offline_profile(body: bytes, message: Message) -> OfflineProfile:
    """Return the profile whose pprof is `body` and whose other fields are in the message."""
    sent = build_sent_profile(body, message)
    return OfflineProfile(
        body=sent.body,
        labels=sent.labels,
        duration_ns=sent.duration_ns,
        type=_read_type(message),
        deployment=_read_deployment(message),
        start_ns=json_message.read_time_ns(message, "startTime", "startTime"),
    )


def _read_profile_bytes(message: Message) -> bytes:
    return json_message.read_bytes(message, "profileBytes", "profileBytes")


def _read_deployment(message: Message) -> WireDeployment:
    found = json_message.read_message(message, "deployment", "deployment")
    if found is None:
        raise BadField("deployment", "is missing")
    return parse_deployment(found, "deployment")


def _read_type(message: Message) -> ProfileType:
    value = json_message.get_field(message, "profileType")
    if value is None:
        raise BadField("profileType", "is missing")
    return json_message.parse_profile_type(value, "profileType")


def _read_types(message: Message) -> frozenset[ProfileType]:
    values = json_message.get_field(message, "profileType")
    if values is None or values == []:
        raise BadField("profileType", "is missing: the types that the agent can capture")
    if not isinstance(values, list):
        values = [values]
    return frozenset(
        json_message.parse_profile_type(value, f"profileType[{i}]")
        for i, value in enumerate(values)
    )


def parse_deployment(message: Message, path: str) -> WireDeployment:
    labels = _read_labels(message, "labels", f"{path}.labels")
    labels.pop(KEY_LABEL, None)
    return WireDeployment(
        target=_require_target(message.get("target"), f"{path}.target"),
        labels=_require_small(labels, f"{path}.labels"),
    )


def parse_profile_labels(message: Message, path: str) -> dict[str, str]:
    """Return the labels of a single profile, such as `instance`."""
    return _require_small(_read_labels(message, "labels", path), path)


def _read_labels(message: Message, name: str, path: str) -> dict[str, str]:
    """Return a map of strings after checking its names and each of its values."""
    labels = message.get(name)
    if labels is None:
        return {}
    if not isinstance(labels, dict):
        raise BadField(path, "must be an object of strings")
    for label, value in labels.items():
        _require_label(label, value, path)
    return dict(labels)


def _require_target(value: object, path: str) -> str:
    if isinstance(value, str) and _TARGET.fullmatch(value):
        return value
    if not value:
        raise BadField(path, "is missing: the name of the service")
    raise BadField(path, f"must match ^{_TARGET.pattern}$")


def _require_label(label: str, value: object, path: str) -> None:
    if not _LABEL_NAME.fullmatch(label):
        raise BadField(path, f"the name {label[:80]!r} must match ^{_LABEL_NAME.pattern}$")
    if not isinstance(value, str):
        raise BadField(f"{path}.{label}", "must be a string")
    if _CONTROL_CHARACTER.search(value):
        raise BadField(f"{path}.{label}", "contains a control character")
    if len(value.encode()) > _MAX_LABEL_VALUE_BYTES:
        raise BadField(f"{path}.{label}", f"is longer than {_MAX_LABEL_VALUE_BYTES} bytes")


def _require_small(labels: dict[str, str], path: str) -> dict[str, str]:
    size = sum(len(name) + len(value.encode()) for name, value in labels.items())
    if size > _MAX_LABELS_BYTES:
        raise BadField(
            path, f"names and values have {size:,} bytes; the limit is {_MAX_LABELS_BYTES:,}"
        )
    return labels
