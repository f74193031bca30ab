"""CreateProfile: an agent offers its profile types and waits for a capture request."""

import logging
import time
from datetime import UTC, datetime

from django.conf import settings
from django.db import DatabaseError

from common import database_pool
from common.loop_turns import turns_of_process
from endpoints import credentials
from endpoints.errors import Throttled
from endpoints.json_message import Message, format_duration
from ingest.caller import Caller
from ingest.cloud_profiler import names, quota_back_off, wire
from ingest.cloud_profiler.responses import ProfileJson, deployment_json, profile_name
from ingest.cloud_profiler.wire import Handshake
from profiles.storage import disk
from projects.credentials.authentication import Access
from projects.models import Delivery
from projects.registration import registry
from projects.registration.registry import AgentSeen, RegisteredAgent
from projects.usage import limits, quotas, rejections
from projects.usage.limits import LimitName
from projects.usage.quota_reached import QuotaReached
from projects.usage.rejections import RejectionReason
from scheduler import first_profile, user_captures
from scheduler.long_poll import queue_of_process
from scheduler.long_poll.interface import BackOff, CaptureRequest, RequestOrigin, Waiter

logger = logging.getLogger(__name__)


async def create_profile(
    caller: Caller, project: str, message: Message, poll_timeout: float | None = None
) -> ProfileJson:
    """Wait for a capture request and return it as a Profile with an upload name.

    `message` is a CreateProfileRequest. The wait takes at most `poll_timeout` seconds, by default
    FLAMEWATCH_POLL_TIMEOUT_SECONDS. Raise Throttled if there is nothing to capture before.
    """
    access = await caller.authenticate(wire.get_key_label(message))
    credentials.require_write(access)
    credentials.require_own(access, project)
    handshake = wire.parse_handshake(message)
    agent = caller.describe_agent(access, handshake.types, delivery=Delivery.HANDSHAKE)
    try:
        registered = await registry.seen(access, handshake.deployment.key, agent)
    except QuotaReached as reached:
        raise quota_back_off.back_off(reached, access.project) from None
    # New agents are inserted in batches, after which hundreds of handshakes continue at once.
    await turns_of_process.wait(("project", access.project))
    disk.require_room()
    try:
        await quotas.require_room(access.project)
    except QuotaReached as reached:
        raise quota_back_off.back_off(reached, access.project, registered.deployment) from None
    seconds_parked = settings.POLL_TIMEOUT_SECONDS if poll_timeout is None else poll_timeout
    capture = await _wait(access, handshake, agent, registered, seconds_parked)
    # Hundreds of handshakes may reach their poll timeout at once.
    await turns_of_process.wait(("project", access.project))
    issued = _build_issued(access, registered, capture)
    name_id = names.issue(issued, access.project_id)
    if capture.origin is RequestOrigin.PERSON:
        await _note_claim(capture, issued, name_id)
    return _response(access, handshake, capture, name_id)


async def _wait(
    access: Access,
    handshake: Handshake,
    agent: AgentSeen,
    registered: RegisteredAgent,
    poll_timeout: float,
) -> CaptureRequest:
    """Park the agent in the long-poll queue for at most `poll_timeout` seconds.

    Proxies cut longer polls; a disconnect of the client ends the wait too. Before it waits, request
    a first profile of each offered type that the deployment has none of, and one of every type
    after a quota kept its agents away. Raise Throttled without a capture request.
    """
    new = handshake.types - registered.profiled
    if new:
        await first_profile.request_first_profiles(
            queue_of_process(), access.project, registered.deployment, new
        )
    if quota_back_off.is_over(access.project, registered.deployment):
        await first_profile.request_profiles_after_quota(
            queue_of_process(), access.project, registered.deployment, handshake.types
        )
    quota = (await limits.find_limits(access.project)).parked_handshakes
    waiter = Waiter(
        agent.identity, access.project, registered.deployment, handshake.types, project_quota=quota
    )
    outcome = await queue_of_process().wait(waiter, poll_timeout)
    if isinstance(outcome, BackOff):
        if outcome.over_quota:
            rejections.note(access.project, RejectionReason.PARKED_HANDSHAKES)
            raise _quota_error(quota, outcome.retry_after)
        raise Throttled(outcome.retry_after)
    return outcome.request


def _quota_error(quota: int, retry_after: float) -> Throttled:
    """Return the error of a project with too many parked handshakes.

    The status is 409, as of all handshakes that have to be sent again: agents log others as errors.
    """
    reached = QuotaReached(LimitName.PARKED_HANDSHAKES, quota, retry_after)
    return Throttled(retry_after, str(reached))


def _build_issued(
    access: Access, registered: RegisteredAgent, capture: CaptureRequest
) -> names.Issued:
    return names.Issued(
        type=capture.type,
        project=access.project,
        deployment=registered.deployment,
        agent=registered.agent,
        issued=time.time(),
        key_id=access.key_id,
    )


async def _note_claim(capture: CaptureRequest, issued: names.Issued, name_id: str) -> None:
    """Store who captures what a user has requested; without it, only the user's page lags."""
    issued_at = datetime.fromtimestamp(issued.issued, UTC)
    try:
        await database_pool.run(
            user_captures.note_claim, capture.id, issued.agent, name_id, issued_at
        )
    except DatabaseError:
        logger.exception("The claim of capture request %s could not be stored.", capture.id)


def _response(
    access: Access, handshake: Handshake, capture: CaptureRequest, name_id: str
) -> ProfileJson:
    """Return the Profile that tells the agent what to capture.

    Every type gets a duration, also where it has no meaning: Google's agents always read one.
    """
    return {
        "name": profile_name(access.project_id, name_id),
        "profileType": capture.type.value,
        "deployment": deployment_json(
            access.project_id, handshake.deployment.target, handshake.deployment.labels
        ),
        "duration": format_duration(settings.CAPTURE_SECONDS),
        "labels": {},
    }
