"""Deployment targets and labels, with the syntax and size limits of Cloud Profiler's API."""

import re
from dataclasses import dataclass

from endpoints.errors import BadField
from endpoints.json_fields import Message

# Label that carries the API key of agents that cannot send headers (Java without TLS).
KEY_LABEL = "api-key"

_TARGET = re.compile(r"[a-z0-9]([-a-z0-9_.]{0,253}[a-z0-9])?")
_LABEL_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MAX_VALUE_BYTES = 512
_MAX_ALL_BYTES = 1024


@dataclass(frozen=True, slots=True)
class WireDeployment:
    """Target and labels of a deployment, without the label that some agents use for the API key."""

    target: str
    labels: dict[str, str]

    @property
    def zone(self) -> str:
        return self.labels.get("zone") or self.labels.get("region", "")

    @property
    def version(self) -> str:
        return self.labels.get("version", "")

    @property
    def language(self) -> str:
        return self.labels.get("language", "")


def deployment(message: Message, path: str) -> WireDeployment:
    labels = read_labels(message, "labels", f"{path}.labels")
    labels.pop(KEY_LABEL, None)
    return WireDeployment(
        target=_target(message.get("target"), f"{path}.target"),
        labels=_bounded(labels, f"{path}.labels"),
    )


def profile_labels(message: Message, path: str) -> dict[str, str]:
    """Return the labels of a single profile, such as `instance`."""
    return _bounded(read_labels(message, "labels", path), path)


def read_labels(message: Message, name: str, path: str) -> dict[str, str]:
    """Return a map of strings after checking its names and each of its values."""
    labels = message.get(name)
    if labels is None:
        return {}
    if not isinstance(labels, dict):
        raise BadField(path, "must be an object of strings")
    for label, value in labels.items():
        _check_label(label, value, path)
    return dict(labels)


def _target(value: object, path: str) -> str:
    if isinstance(value, str) and _TARGET.fullmatch(value):
        return value
    if not value:
        raise BadField(path, "is missing: the name of the service")
    raise BadField(path, f"must match ^{_TARGET.pattern}$")


def _check_label(label: str, value: object, path: str) -> None:
    if not _LABEL_NAME.fullmatch(label):
        raise BadField(path, f"the name {label[:80]!r} must match ^{_LABEL_NAME.pattern}$")
    if not isinstance(value, str):
        raise BadField(f"{path}.{label}", "must be a string")
    if _CONTROL.search(value):
        raise BadField(f"{path}.{label}", "contains a control character")
    if len(value.encode()) > _MAX_VALUE_BYTES:
        raise BadField(f"{path}.{label}", f"is longer than {_MAX_VALUE_BYTES} bytes")


def _bounded(labels: dict[str, str], path: str) -> dict[str, str]:
    size = sum(len(name) + len(value.encode()) for name, value in labels.items())
    if size > _MAX_ALL_BYTES:
        raise BadField(
            path, f"names and values have {size:,} bytes; the limit is {_MAX_ALL_BYTES:,}"
        )
    return labels
