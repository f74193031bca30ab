"""Names of profiles: `projects/{project}/profiles/{id}`, issued signed and checked by arithmetic.

The id says what was assigned to whom and when, and is good for an hour: any web process can take
the upload without asking another, and nobody can upload under a name that was not issued.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
import struct
from dataclasses import dataclass
from functools import cache

from django.conf import settings

from endpoints.errors import NotFound
from projects.profile_types import WIRE_NUMBERS, ProfileType

GOOD_FOR_SECONDS = 3600
# Clocks of several web processes may differ by so much.
_CLOCK_SKEW_SECONDS = 60
_FIELDS = struct.Struct(">BQQQQ8s")  # type, project, deployment, agent, issued µs, nonce
_MAC_BYTES = 16
_LENGTH = 4 * ((_FIELDS.size + _MAC_BYTES + 2) // 3)
_NUMBERS = {type: number for number, type in WIRE_NUMBERS.items()}


@dataclass(frozen=True, slots=True)
class Issued:
    """What a name says: capture this type, assigned to this agent at this moment."""

    type: ProfileType
    project: int  # Project.pk
    deployment: int  # Deployment.pk
    agent: int  # Agent.pk
    issued: float  # Unix time, seconds


def issue(issued: Issued, project_id: str) -> str:
    """The id of a new name; never the same twice."""
    packed = _FIELDS.pack(
        _NUMBERS[issued.type],
        issued.project,
        issued.deployment,
        issued.agent,
        round(issued.issued * 1e6),
        secrets.token_bytes(8),
    )
    return base64.urlsafe_b64encode(packed + _mac(packed, project_id)).decode().rstrip("=")


def check(name_id: str, project_id: str, now: float) -> Issued:
    """What was issued; NotFound for a name that is forged, expired or another project's."""
    packed = _verified(name_id, project_id)
    number, project, deployment, agent, microseconds, _ = _FIELDS.unpack(packed)
    issued = microseconds / 1e6
    if not -_CLOCK_SKEW_SECONDS <= now - issued <= GOOD_FOR_SECONDS:
        raise NotFound("This name has expired: an upload has an hour.")
    return Issued(WIRE_NUMBERS[number], project, deployment, agent, issued)


def _verified(name_id: str, project_id: str) -> bytes:
    try:
        raw = base64.b64decode(
            name_id + "=" * (_LENGTH - len(name_id)), altchars=b"-_", validate=True
        )
    except (ValueError, binascii.Error):
        raw = b""
    packed, mac = raw[: _FIELDS.size], raw[_FIELDS.size :]
    # Compared as text too: the unused bits of the last digit are not free to choose.
    whole = base64.urlsafe_b64encode(raw).decode().rstrip("=") == name_id
    if not (whole and hmac.compare_digest(mac, _mac(packed, project_id))):
        raise NotFound("No profile has been asked for under this name.")
    return packed


def _mac(packed: bytes, project_id: str) -> bytes:
    # Not hmac.digest, which gives the GIL away: to get it back takes longer than these few bytes.
    mac = _keyed().copy()
    mac.update(packed + project_id.encode())
    return mac.digest()[:_MAC_BYTES]


@cache
def _keyed() -> hmac.HMAC:
    """With a key for names alone, so that no other signature of the server is good here."""
    key = hashlib.sha256(b"names of profiles\0" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, digestmod="sha256")
