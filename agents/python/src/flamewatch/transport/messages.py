"""Messages of the Cloud Profiler API v2 as JSON. Pure."""

import base64
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flamewatch.capture.profile_types import ProfileType
from flamewatch.config import OWN_PROJECT, Config
from flamewatch.transport import durations

_NAME = re.compile(r"projects/[A-Za-z0-9_.:~-]{1,256}/profiles/[A-Za-z0-9_.:~=-]{1,1024}")
LONGEST_CAPTURE = 120.0  # seconds; longer durations are rejected as invalid


@dataclass(frozen=True, slots=True)
class Assignment:
    """Capture request of the server."""

    name: str
    type: ProfileType
    duration: float  # seconds


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """Error response. The most common one is 409: no profile is requested now."""

    status: int
    message: str  # from outside: may contain anything
    retry_after: float | None = None  # seconds; None if the response has no delay

    @property
    def throttled(self) -> bool:
        return self.status == 409


class InvalidResponse(Exception):
    """Successful response that is not valid for this API."""


def create_path(config: Config) -> str:
    return f"/v2/projects/{config.project}/profiles"


def create_body(config: Config, types: Iterable[ProfileType]) -> bytes:
    """Encode a CreateProfileRequest."""
    message = {"deployment": _deployment(config), "profileType": [str(name) for name in types]}
    return json.dumps(message).encode()


def upload_path(assignment: Assignment) -> str:
    return f"/v2/{assignment.name}"


def upload_body(config: Config, host: str, assignment: Assignment, profile: bytes) -> bytes:
    """Encode a Profile message with its bytes (gzip pprof)."""
    message = {
        "name": assignment.name,
        "profileType": str(assignment.type),
        "deployment": _deployment(config),
        "duration": durations.text(assignment.duration),
        "profileBytes": base64.b64encode(profile).decode(),
        "labels": {"instance": host},
    }
    return json.dumps(message).encode()


def read_assignment(body: bytes, offered: Iterable[ProfileType]) -> Assignment:
    """Decode the Profile in a response to CreateProfile, or raise `InvalidResponse`."""
    message = _object(body)
    name, kind = message.get("name"), message.get("profileType")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidResponse("invalid response: no profile name")
    profile_type = next((offered_type for offered_type in offered if offered_type == kind), None)
    if profile_type is None:
        raise InvalidResponse("invalid response: a profile type that was not offered")
    duration = durations.parse(message.get("duration"))
    if duration is None or duration > LONGEST_CAPTURE:
        raise InvalidResponse("invalid response: no valid duration")
    return Assignment(name, profile_type, duration)


def read_error_response(status: int, body: bytes, retry_after: str | None = None) -> ErrorResponse:
    """Decode a google.rpc.Status, or any other body that a proxy may send. Never raise."""
    try:
        error = _object(body).get("error")
    except InvalidResponse:
        error = None
    if not isinstance(error, dict):
        error = {}
    message, details = error.get("message"), error.get("details")
    parsed = [durations.parse(detail.get("retryDelay")) for detail in _objects(details)]
    delays = [delay for delay in parsed if delay is not None]
    return ErrorResponse(
        status,
        message if isinstance(message, str) else "",
        delays[0] if delays else _seconds(retry_after),
    )


def _deployment(config: Config) -> dict[str, Any]:
    labels = {"language": "python", "version": config.version, "zone": config.zone}
    message: dict[str, Any] = {
        "target": config.service,
        "labels": {name: value for name, value in labels.items() if value},
    }
    if config.project != OWN_PROJECT:
        message["projectId"] = config.project
    return message


def _object(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):  # RecursionError: a thousand nested brackets
        message = None
    if not isinstance(message, dict):
        raise InvalidResponse("invalid response: not a JSON object")
    return message


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _seconds(header: str | None) -> float | None:
    """Parse Retry-After in whole seconds, as load balancers send it; dates are ignored."""
    text = (header or "").strip()
    return float(text) if re.fullmatch(r"[0-9]{1,6}", text) else None
