"""Capture requests created by a user, for the next free agent of a service."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from projects.models import AuditEntry, Deployment, Project, User
from projects.profile_types import NEVER_ASKED, ProfileType
from scheduler.capture_requests import CaptureRequest, Offer, RequestOrigin, person_id
from scheduler.long_poll import queue_of_process

# Pending requests by users, per deployment and type: enough for a user, a small load on an agent.
MAX_PENDING = 10


@dataclass(frozen=True, slots=True)
class PendingCapture:
    """New capture request, with the number of agents that may take it at once."""

    slot: CaptureRequest
    waiting: int  # parked agents of the deployment


class NoMatchingAgent(Exception):
    """No agent offers the profile type; the message names the types that are offered."""


class TooManyPending(Exception):
    """MAX_PENDING requests by users are unclaimed already; the message states the limit."""


def request_capture(
    project: Project,
    service: str,
    type: ProfileType,
    zone: str | None = None,
    version: str | None = None,
    *,
    actor: User | None,
    actor_key: str = "",
) -> PendingCapture:
    """Add a capture request for the next free agent, and an entry to the audit log.

    If several deployments match, choose the one with the most parked agents. Raise
    NoMatchingAgent, TooManyPending or QueueUnavailable.
    """
    offers = _offers(project, service, zone, version)
    fitting = [offer for offer in offers if type in offer.types - NEVER_ASKED]
    if not fitting:
        raise NoMatchingAgent(_who_offers_what(service, type, offers))
    offer = max(fitting, key=lambda offer: offer.agents)
    if queue_of_process().asked(offer.deployment, type) >= MAX_PENDING:
        raise TooManyPending(
            _("%(most)d captures of %(type)s wait for an agent already, and that is the most.")
            % {"most": MAX_PENDING, "type": type}
        )
    slot = _slot(offer, type)
    detail = {"service": service, "type": type, "deployment": offer.deployment, "slot": slot.id}
    AuditEntry.objects.create(
        project=project, actor=actor, actor_key=actor_key, action="capture.now", detail=detail
    )
    queue_of_process().add_slots([slot])
    return PendingCapture(slot, offer.agents)


def _slot(offer: Offer, kind: ProfileType) -> CaptureRequest:
    identity = person_id(offer.deployment, kind, secrets.token_urlsafe(9))
    return CaptureRequest(
        identity, offer.project, offer.deployment, kind, time.time(), RequestOrigin.PERSON
    )


def _offers(project: Project, service: str, zone: str | None, version: str | None) -> list[Offer]:
    """Return the offers of the project's deployments that match the filters."""
    wanted = Deployment.objects.filter(project=project, service=service)
    if zone is not None:
        wanted = wanted.filter(zone=zone)
    if version is not None:
        wanted = wanted.filter(version=version)
    known = set(wanted.values_list("pk", flat=True))
    return [offer for offer in queue_of_process().offers() if offer.deployment in known]


def _who_offers_what(service: str, kind: ProfileType, offers: Sequence[Offer]) -> str:
    """Return the message of NoMatchingAgent."""
    if not offers:
        return _("No agent of %(service)s has asked for work of late.") % {"service": service}
    types = sorted({kind for offer in offers for kind in offer.types - NEVER_ASKED})
    return _("No agent of %(service)s offers %(type)s; it could be: %(types)s.") % {
        "service": service,
        "type": kind,
        "types": ", ".join(types),
    }
