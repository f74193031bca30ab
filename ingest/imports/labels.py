"""Map labels of foreign clients to a deployment and profile labels.

Foreign names and values follow other rules than ours: unusable ones are changed or left out
instead of rejected, because the people who send them cannot change their clients.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from django.conf import settings

from projects.registration.registry import DeploymentKey

MAX_VALUE_BYTES = 512
MAX_ALL_BYTES = 1024
_LONGEST_NAME, _LONGEST_SERVICE = 63, 255
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")
_NOT_IN_SERVICE = re.compile(r"[^a-z0-9_.]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class LabelRules:
    """Names of foreign labels for each part of a deployment; the first with a value counts."""

    service: Sequence[str]
    version: Sequence[str]
    zone: Sequence[str]
    language: Sequence[str]
    instance: Sequence[str]
    ignored: Sequence[str] = ()  # patterns, in which * stands for any characters

    @classmethod
    def from_settings(cls) -> "LabelRules":
        """Return the rules of FLAMEWATCH_SERVICE_LABELS and the settings beside it."""
        return cls(
            service=settings.SERVICE_LABELS,
            version=settings.VERSION_LABELS,
            zone=settings.ZONE_LABELS,
            language=settings.LANGUAGE_LABELS,
            instance=settings.INSTANCE_LABELS,
            ignored=settings.IGNORED_LABELS,
        )


@dataclass(frozen=True, slots=True)
class MappedLabels:
    deployment: DeploymentKey
    labels: dict[str, str]  # profile labels, within the limits of Cloud Profiler's API
    warnings: tuple[str, ...] = ()  # sentences about labels that were left out


def map_labels(
    labels: Mapping[str, str], rules: LabelRules, default_service: str = ""
) -> MappedLabels | None:
    """Map foreign labels; return None if they name no service and there is no default one."""
    left = dict(labels)

    def take(names: Sequence[str]) -> str:
        values = [left.pop(name, "") for name in names]
        return next((value for value in values if value.strip()), "").strip()

    service = service_name(take(rules.service)) or service_name(default_service)
    if not service:
        return None
    deployment = DeploymentKey(
        service=service,
        zone=label_value(take(rules.zone)),
        version=label_value(take(rules.version)),
        language=label_value(take(rules.language)),
    )
    instance = take(rules.instance)
    free = {"instance": instance} if instance else {}
    for name, value in sorted(left.items()):
        if not any(fnmatchcase(name, pattern) for pattern in rules.ignored):
            free.setdefault(label_name(name), value)
    fitting, dropped = _limit_size(free)
    return MappedLabels(deployment, fitting, _warnings(dropped))


def service_name(text: str) -> str:
    """Return the nearest valid name of a service; "" if nothing of the text is usable."""
    name = _NOT_IN_SERVICE.sub("-", text.strip().lower())[:_LONGEST_SERVICE]
    return name.strip("-_.")


def label_name(text: str) -> str:
    """Return the nearest valid name of a label; "" if nothing of the text is usable."""
    return _NOT_IN_NAME.sub("-", text.lower())[:_LONGEST_NAME].strip("-")


def label_value(text: str) -> str:
    """Return the value without control characters, cut to MAX_VALUE_BYTES of UTF-8."""
    clean = _CONTROL.sub(" ", text).encode("utf-8", "replace")[:MAX_VALUE_BYTES]
    return clean.decode("utf-8", "ignore")


def _limit_size(labels: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the labels that fit into MAX_ALL_BYTES, in their order, and the names of the rest."""
    fitting: dict[str, str] = {}
    dropped = []
    size = 0
    for name, value in labels.items():
        text = label_value(value)
        if not name or not text:
            continue
        size_with = size + len(name) + len(text.encode())
        if size_with > MAX_ALL_BYTES:
            dropped.append(name)
            continue
        fitting[name], size = text, size_with
    return fitting, dropped


def _warnings(dropped: Sequence[str]) -> tuple[str, ...]:
    if not dropped:
        return ()
    names = ", ".join(dropped[:10]) + (", …" if len(dropped) > 10 else "")
    return (f"Labels beyond {MAX_ALL_BYTES:,} bytes were left out: {names}.",)
