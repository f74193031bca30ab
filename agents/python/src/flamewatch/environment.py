"""Service, version and zone of a process from its environment variables. Pure."""

import re
from collections.abc import Mapping
from urllib.parse import unquote

_SERVICE = ("K_SERVICE", "GAE_SERVICE", "OTEL_SERVICE_NAME")
_VERSION = ("K_REVISION", "GAE_VERSION")
_ZONE_ATTRIBUTES = ("cloud.availability_zone", "cloud.region")
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9_.-]+")
_LONGEST_NAME = 255


def service(environ: Mapping[str, str]) -> str:
    """Return the service name; "" if no variable sets one.

    Names from variables of other tools are changed to the syntax of service names.
    """
    if ours := environ.get("FLAMEWATCH_SERVICE"):
        return ours
    attribute = _attributes(environ).get("service.name")
    return bend(_first(environ, _SERVICE) or attribute or "")


def version(environ: Mapping[str, str]) -> str:
    attribute = _attributes(environ).get("service.version")
    return environ.get("FLAMEWATCH_VERSION") or _first(environ, _VERSION) or attribute or ""


def zone(environ: Mapping[str, str]) -> str:
    if ours := environ.get("FLAMEWATCH_ZONE"):
        return ours
    attributes = _attributes(environ)
    return next((attributes[name] for name in _ZONE_ATTRIBUTES if name in attributes), "")


def bend(name: str) -> str:
    """Return the nearest valid service name: "Check Out" becomes "check-out"."""
    return _NOT_IN_A_NAME.sub("-", name.lower())[:_LONGEST_NAME].strip("-_.")


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environ[name] for name in names if environ.get(name)), "")


def _attributes(environ: Mapping[str, str]) -> dict[str, str]:
    """Parse OTEL_RESOURCE_ATTRIBUTES: `key=value,key=value`, percent-encoded."""
    pairs = environ.get("OTEL_RESOURCE_ATTRIBUTES", "").split(",")
    split = (pair.partition("=") for pair in pairs)
    return {name.strip(): unquote(value.strip()) for name, _, value in split if value.strip()}
