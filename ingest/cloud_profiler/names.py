"""Profile names `projects/{project}/profiles/{id}` with signed ids.

The id encodes the type, deployment and agent of a capture request, the API key of the handshake and
the time of issue, and expires after an hour. Any web process can check its signature without a
lookup, and clients cannot upload under names that were not issued.
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
_FIELDS = struct.Struct(">BQQQQ8s10s")  # type, project, deployment, agent, issued µs, nonce, key
_MAC_BYTES = 16
_NUMBERS = {type: number for number, type in WIRE_NUMBERS.items()}


@dataclass(frozen=True, slots=True)
class Issued:
    """Contents of a profile name: the requested type, the agent, and the time of the request.

    `key_id` is the public id of the API key that the agent sent (ApiKey.key_id).
    """

    type: ProfileType
    project: int  # Project.pk
    deployment: int  # Deployment.pk
    agent: int | None  # Agent.pk; None for an agent without a row
    issued: float  # Unix time, seconds
    key_id: str = ""


def issue(issued: Issued, project_id: str) -> str:
    """Return the id of a new name; a random nonce makes each one unique."""
    packed = _FIELDS.pack(
        _NUMBERS[issued.type],
        issued.project,
        issued.deployment,
        issued.agent or 0,
        round(issued.issued * 1e6),
        secrets.token_bytes(8),
        issued.key_id.encode(),
    )
    return base64.urlsafe_b64encode(packed + _mac(packed, project_id)).decode().rstrip("=")


def check(name_id: str, project_id: str, now: float) -> Issued:
    """Return the contents of a name.

    Raise NotFound if the name is forged, expired or belongs to another project.
    """
    packed = _verify(name_id, project_id)
    number, project, deployment, agent, microseconds, _nonce, key = _FIELDS.unpack(packed)
    issued = microseconds / 1e6
    key_id = key.rstrip(b"\0").decode()
    if not -_CLOCK_SKEW_SECONDS <= now - issued <= GOOD_FOR_SECONDS:
        raise NotFound("This profile name has expired: profiles must be uploaded within an hour.")
    return Issued(WIRE_NUMBERS[number], project, deployment, agent or None, issued, key_id)


def _verify(name_id: str, project_id: str) -> bytes:
    try:
        raw = base64.b64decode(name_id + "=" * (-len(name_id) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raw = b""
    packed, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
    # Compare the text too: the decoder ignores the unused bits of the last base64 digit.
    whole = base64.urlsafe_b64encode(raw).decode().rstrip("=") == name_id
    is_complete = len(packed) == _FIELDS.size
    if not (whole and is_complete and hmac.compare_digest(mac, _mac(packed, project_id))):
        raise NotFound("No profile was requested under this name.")
    return packed


def _mac(packed: bytes, project_id: str) -> bytes:
    # Not hmac.digest, which releases the GIL: acquiring it again takes longer than hashing these
    # few bytes.
    mac = _get_keyed_hmac().copy()
    # NUL, which no project id has, tells a key from the beginning of a project id.
    mac.update(packed + b"\0" + project_id.encode())
    return mac.digest()[:_MAC_BYTES]


@cache
def _get_keyed_hmac() -> hmac.HMAC:
    """Return an HMAC keyed for names only: other signatures of the server are invalid here."""
    key = hashlib.sha256(b"names of profiles\0" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, digestmod="sha256")
