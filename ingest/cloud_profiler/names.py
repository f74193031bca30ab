"""Profile names `projects/{project}/profiles/{id}` with signed ids.

The id encodes the type, deployment and agent of a capture request and the time of its issue, and
expires after an hour. Any web process can check it without a lookup, and clients cannot upload
under names that were not issued.
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
# Allowed difference between the clocks of web processes.
_CLOCK_SKEW_SECONDS = 60
_FIELDS = struct.Struct(">BQQQQ8s")  # type, project, deployment, agent, issued µs, nonce
_MAC_BYTES = 16
_LENGTH = 4 * ((_FIELDS.size + _MAC_BYTES + 2) // 3)
_NUMBERS = {type: number for number, type in WIRE_NUMBERS.items()}


@dataclass(frozen=True, slots=True)
class Issued:
    """Contents of a profile name: the requested type, the agent and the time of the request."""

    type: ProfileType
    project: int  # Project.pk
    deployment: int  # Deployment.pk
    agent: int  # Agent.pk
    issued: float  # Unix time, seconds


def issue(issued: Issued, project_id: str) -> str:
    """Return the id of a new name; a random nonce makes each one unique."""
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
    """Return the contents of a name.

    Raise NotFound if the name is forged, expired or belongs to another project.
    """
    packed = _verified(name_id, project_id)
    number, project, deployment, agent, microseconds, _ = _FIELDS.unpack(packed)
    issued = microseconds / 1e6
    if not -_CLOCK_SKEW_SECONDS <= now - issued <= GOOD_FOR_SECONDS:
        raise NotFound("This profile name has expired: profiles must be uploaded within an hour.")
    return Issued(WIRE_NUMBERS[number], project, deployment, agent, issued)


def _verified(name_id: str, project_id: str) -> bytes:
    try:
        raw = base64.b64decode(
            name_id + "=" * (_LENGTH - len(name_id)), altchars=b"-_", validate=True
        )
    except (ValueError, binascii.Error):
        raw = b""
    packed, mac = raw[: _FIELDS.size], raw[_FIELDS.size :]
    # Compare the text too: the decoder ignores the unused bits of the last base64 digit.
    whole = base64.urlsafe_b64encode(raw).decode().rstrip("=") == name_id
    if not (whole and hmac.compare_digest(mac, _mac(packed, project_id))):
        raise NotFound("No profile was requested under this name.")
    return packed


def _mac(packed: bytes, project_id: str) -> bytes:
    # Not hmac.digest, which releases the GIL: acquiring it again takes longer than hashing these
    # few bytes.
    mac = _keyed().copy()
    mac.update(packed + project_id.encode())
    return mac.digest()[:_MAC_BYTES]


@cache
def _keyed() -> hmac.HMAC:
    """Return an HMAC keyed for names only: other signatures of the server are invalid here."""
    key = hashlib.sha256(b"names of profiles\0" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, digestmod="sha256")
