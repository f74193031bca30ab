"""Progress of a capture that a user has requested: queued, capturing, uploaded, or what failed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import ceil

from django.conf import settings
from django.utils.translation import gettext as _

from endpoints.params import parameter
from frontend.http.page_client import CAPTURE_PARAMETER
from frontend.params.page_links import flame_url
from frontend.params.page_params import PageParams
from frontend.text.display_names import agent_name, type_name
from profiles.query import DeadlinePassed, ProfileSelection, QueryContext, run_profiles
from projects.models import Project
from projects.profile_types import INSTANTANEOUS, ProfileType
from scheduler import user_captures
from scheduler.capture_requests import EXPIRY_SECONDS
from scheduler.long_poll import queue_of_process
from scheduler.long_poll.interface import QueueUnavailable
from scheduler.models import UserCapture

CAPTURE = parameter.text(CAPTURE_PARAMETER, "Id of a capture request whose progress is shown", 100)

# From the end of the capture until a missing profile counts as lost: agents upload at once, and
# repeat a failed upload within seconds.
UPLOAD_SECONDS = 30
_AROUND = timedelta(seconds=1)  # of the profile's time: the time of the claim


class CaptureState(StrEnum):
    QUEUED = "queued"
    CAPTURING = "capturing"
    UPLOADING = "uploading"
    UPLOADED = "uploaded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CaptureProgress:
    id: str
    state: CaptureState
    title: str  # changes with the state only
    text: str
    done: int = 0  # seconds of the capture that have passed
    seconds: int = 0  # length of the capture; 0 without a bar
    profile_url: str = ""  # of the flame page of the uploaded profile

    @property
    def is_final(self) -> bool:
        return self.state in {CaptureState.UPLOADED, CaptureState.FAILED}


def capture_progress(
    context: QueryContext, project: Project, request: str, now: datetime
) -> CaptureProgress | None:
    """Return the progress of a capture of the project; None if it is unknown or too old."""
    capture = user_captures.find(project, request) if request else None
    if capture is None:
        return None
    if capture.rejection:
        return _failure_progress(capture, capture.rejection)
    if capture.is_uploaded:
        return _upload_progress(project, capture)
    if capture.claimed is None:
        return _describe_unclaimed(capture, now)
    return _describe_claimed(context, project, capture, capture.claimed, now)


def _describe_unclaimed(capture: UserCapture, now: datetime) -> CaptureProgress:
    left = EXPIRY_SECONDS - (now - capture.created).total_seconds()
    values = {"service": capture.service, "seconds": max(1, ceil(left))}
    parked = _count_parked_agents(capture)
    if left > 0:
        text = _("Waiting for a free agent of %(service)s, %(seconds)d s left.")
        if not parked:
            text = _(
                "No agent of %(service)s is free right now; waiting for one, %(seconds)d s left."
            )
        title = _titles(capture)[0]
        return CaptureProgress(capture.request, CaptureState.QUEUED, title, text % values)
    values["seconds"] = round(EXPIRY_SECONDS)
    text = (
        _("Timed out: no agent of %(service)s was free within %(seconds)d s.")
        if parked
        else _("Timed out: no agent of %(service)s connected within %(seconds)d s.")
    )
    return _failure_progress(capture, text % values)


def _count_parked_agents(capture: UserCapture) -> int:
    """Return the number of connected agents that may take the request."""
    try:
        targets = queue_of_process().targets()
    except QueueUnavailable:
        return 0
    return sum(target.agents for target in targets if target.deployment == capture.deployment)


def _describe_claimed(
    context: QueryContext, project: Project, capture: UserCapture, claimed: datetime, now: datetime
) -> CaptureProgress:
    kind = ProfileType(capture.type)
    seconds = 0 if kind in INSTANTANEOUS else ceil(settings.CAPTURE_SECONDS)
    passed = (now - claimed).total_seconds()
    if passed < seconds:
        left = ceil(seconds - passed)
        values = {"agent": _agent_name(capture), "n": left}
        text = _("%(n)d s left, on %(agent)s.") % values
        title = _titles(capture)[1]
        state = CaptureState.CAPTURING
        return CaptureProgress(capture.request, state, title, text, seconds - left, seconds)
    if _is_stored(context, project, capture, claimed):
        user_captures.note_upload(capture)
        return _upload_progress(project, capture)
    if reason := _rejection(capture, claimed):
        return _failure_progress(
            capture, _("The profile was rejected: %(reason)s") % {"reason": reason}
        )
    if passed < seconds + UPLOAD_SECONDS:
        text = _("Waiting for the profile of %(agent)s.") % {"agent": _agent_name(capture)}
        return CaptureProgress(capture.request, CaptureState.UPLOADING, _titles(capture)[2], text)
    return _failure_progress(capture, _lost(capture))


def _is_stored(
    context: QueryContext, project: Project, capture: UserCapture, claimed: datetime
) -> bool:
    """Return whether the profile of a claimed request is stored; False at the query's deadline."""
    selection = ProfileSelection(
        project.pk,
        capture.service,
        ProfileType(capture.type),
        claimed - _AROUND,
        claimed + _AROUND,
        profile=capture.name_id,
    )
    try:
        return run_profiles(context, selection, size=1).coverage.profiles > 0
    except DeadlinePassed:
        return False


def _rejection(capture: UserCapture, claimed: datetime) -> str:
    """Return why the agent's last upload was rejected, if that was after the claim."""
    report = getattr(capture.agent, "report", None)
    if report is None or not report.rejected_at or report.rejected_at < claimed:
        return ""
    return str(report.rejection)


def _lost(capture: UserCapture) -> str:
    """Return why an upload is missing: the agent has gone, or has come back without a profile."""
    values = {"agent": _agent_name(capture), "seconds": UPLOAD_SECONDS}
    agent = capture.agent
    try:
        activities = queue_of_process().activities(
            [(agent.deployment_id, agent.identity)] if agent else []
        )
    except QueueUnavailable:
        activities = []
    if any(activity.waiting for activity in activities):
        return _("%(agent)s uploaded no profile within %(seconds)d s after the capture.") % values
    return _("%(agent)s disconnected before it uploaded the profile.") % values


def _upload_progress(project: Project, capture: UserCapture) -> CaptureProgress:
    return CaptureProgress(
        id=capture.request,
        state=CaptureState.UPLOADED,
        title=_titles(capture)[3],
        text=_("Captured by %(agent)s.") % {"agent": _agent_name(capture)},
        profile_url=_profile_url(project, capture),
    )


def _profile_url(project: Project, capture: UserCapture) -> str:
    """Return the URL of the profile alone, in the smallest range of whole seconds around it."""
    claimed = capture.claimed or capture.created
    params = PageParams(
        service=capture.service,
        type=ProfileType(capture.type),
        span=_AROUND,
        end=claimed.replace(microsecond=0) + _AROUND,
        profile=capture.name_id,
    )
    return flame_url(project, params)


def _failure_progress(capture: UserCapture, text: str) -> CaptureProgress:
    return CaptureProgress(capture.request, CaptureState.FAILED, _titles(capture)[4], text)


def _titles(capture: UserCapture) -> tuple[str, str, str, str, str]:
    """Return the titles of the states, in the order of CaptureState."""
    values = {"type": type_name(ProfileType(capture.type)), "service": capture.service}
    return (
        _("%(type)s of %(service)s: capture queued") % values,
        _("%(type)s of %(service)s: capturing") % values,
        _("%(type)s of %(service)s: uploading") % values,
        _("%(type)s of %(service)s: profile uploaded") % values,
        _("%(type)s of %(service)s: capture failed") % values,
    )


def _agent_name(capture: UserCapture) -> str:
    agent = capture.agent
    return agent_name(agent) if agent else _("The agent")
