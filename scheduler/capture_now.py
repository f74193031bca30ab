"""Capture requests created by a user, for the next free agent of a service."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import audit
from projects.models import Agent, Delivery, Deployment, Project, User, filter_connected
from projects.profile_types import NEVER_REQUESTED, ProfileType
from projects.usage import quotas
from scheduler import user_captures
from scheduler.capture_requests import CaptureRequest, CaptureTarget, RequestOrigin, person_id
from scheduler.long_poll import queue_of_process

# Pending requests by users, per deployment and type: enough for a user, a small load on an agent.
MAX_PENDING = 10


@dataclass(frozen=True, slots=True)
class PendingCapture:
    """New capture request, with the number of agents that may take it at once."""

    request: CaptureRequest
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
    origin: audit.Origin = audit.NO_CLIENT,
) -> PendingCapture:
    """Add a capture request for the next free agent, and an entry to the audit log.

    If several deployments match, choose the one with the most parked agents. Raise
    NoMatchingAgent, TooManyPending, QuotaReached if the server would reject every profile, or
    QueueUnavailable.
    """
    quotas.require_room_blocking(project.pk)
    deployments = _find_deployments(project, service, zone, version)
    pks = set(deployments.values_list("pk", flat=True))
    targets = [target for target in queue_of_process().targets() if target.deployment in pks]
    matching = [target for target in targets if type in target.types - NEVER_REQUESTED]
    if not matching:
        raise NoMatchingAgent(_no_agent_message(service, deployments, type, targets))
    target = max(matching, key=lambda target: target.agents)
    if queue_of_process().count_user_requests(target.deployment, type) >= MAX_PENDING:
        raise TooManyPending(
            _("%(most)d captures of %(type)s are already waiting for an agent, which is the limit.")
            % {"most": MAX_PENDING, "type": type}
        )
    request = _new_request(target, type)
    with transaction.atomic():
        audit.record(
            project,
            "capture.now",
            actor=actor,
            actor_key=actor_key,
            origin=origin,
            target=service,
            service=service,
            type=type,
            deployment=target.deployment,
            slot=request.id,
        )
        user_captures.note_request(project, service, request)
    queue_of_process().add_requests([request])
    return PendingCapture(request, target.agents)


def _new_request(target: CaptureTarget, kind: ProfileType) -> CaptureRequest:
    identity = person_id(target.deployment, kind, secrets.token_urlsafe(9))
    return CaptureRequest(
        identity, target.project, target.deployment, kind, time.time(), RequestOrigin.PERSON
    )


def _find_deployments(
    project: Project, service: str, zone: str | None, version: str | None
) -> QuerySet[Deployment]:
    deployments = Deployment.objects.filter(project=project, service=service)
    if zone is not None:
        deployments = deployments.filter(zone=zone)
    if version is not None:
        deployments = deployments.filter(version=version)
    return deployments


def _no_agent_message(
    service: str,
    deployments: QuerySet[Deployment],
    kind: ProfileType,
    targets: Sequence[CaptureTarget],
) -> str:
    if not targets:
        pushing = Agent.objects.filter(
            filter_connected(timezone.now()), deployment__in=deployments, delivery=Delivery.PUSH
        )
        if pushing.exists():
            return _(
                "The agents of %(service)s send on their own, and take no capture requests."
            ) % {"service": service}
        return _("No agent of %(service)s has connected recently.") % {"service": service}
    types = sorted({kind for target in targets for kind in target.types - NEVER_REQUESTED})
    return _("No agent of %(service)s offers %(type)s. Available types: %(types)s.") % {
        "service": service,
        "type": kind,
        "types": ", ".join(types),
    }
