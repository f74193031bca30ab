"""Map exceptions to error responses of the APIs.

Every error response carries google.rpc.RetryInfo, whatever its status: without it agents choose
their own delay, up to an hour. It is the time to their next request. Only what may be repeated as
it is has the header Retry-After; what exceeds a limit of one request is rejected for good.
"""

import logging
import random
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import orjson
from django import db
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpResponse
from rest_framework.exceptions import APIException

from common.database_pool import DatabasePoolFull
from common.disk_space import DiskFull, is_disk_full
from common.outages import Dependency, note_failure
from common.repeated_log import repeated_log
from common.request_body import TooSlow
from common.worker_processes.workers import WorkerLost
from endpoints import errors
from endpoints.json_message import format_duration
from endpoints.params.reader import BadParameter
from profiles.deletion.jobs import DeletionRejected
from profiles.engine.errors import BadProfile, TooLarge
from profiles.project_export.jobs import ExportRejected
from profiles.query import InvalidQuery, TooManyQueriesWaiting
from profiles.storage.disk import DATABASE_FULL
from profiles.storage.head import Conflict, Rejected, StoreUnavailable, Unstorable
from profiles.storage.saved_tree_rows import SavedTreeNotStored
from projects.account_limits import LimitReached
from projects.credentials.access_tokens import PermissionMissing
from projects.credentials.allowed_services import ServiceNotAllowed
from projects.credentials.authentication import KeyRejected, ProjectSuspended
from projects.credentials.keys import KeyNotRotated
from projects.invitations import InvalidInvitation
from projects.members import MemberChanged, PermissionNeeded
from projects.usage.quotas import QuotaReached
from scheduler.capture_now import NoMatchingAgent, TooManyPending
from scheduler.long_poll.interface import QueueUnavailable

log = logging.getLogger(__name__)

RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"
# Seconds. Agents retry even after permanent errors, rarely, because keys and quotas change.
_SELDOM, _SOON, _LONGEST = 60.0, 5.0, 3600.0
_SUSPENDED = 600.0  # a suspension lasts for hours or days
# Seconds. A client does not wait until a quota resets: it may be raised before.
_QUOTA_STEP = 60.0


class Rule(NamedTuple):
    status: int  # HTTP status
    code: str  # google.rpc.Code
    retry_after: float  # seconds
    message: str = ""  # replaces the exception's text if that is not public


_DATABASE_UNAVAILABLE = Rule(
    503, "UNAVAILABLE", _SOON, "The database is not available. Try again later."
)
_UNKNOWN = Rule(500, "INTERNAL", _SOON, "Internal server error; see the server's log.")

_RULES: dict[type[Exception], Rule] = {
    errors.BadField: Rule(400, "INVALID_ARGUMENT", _SELDOM),
    errors.BadRequest: Rule(400, "INVALID_ARGUMENT", _SELDOM),
    BadProfile: Rule(400, "INVALID_ARGUMENT", _SELDOM),
    SuspiciousOperation: Rule(400, "INVALID_ARGUMENT", _SELDOM, "Malformed request."),
    errors.NoKey: Rule(401, "UNAUTHENTICATED", _SELDOM),
    KeyRejected: Rule(401, "UNAUTHENTICATED", _SELDOM),
    ProjectSuspended: Rule(403, "PERMISSION_DENIED", _SUSPENDED),
    ServiceNotAllowed: Rule(403, "PERMISSION_DENIED", _SELDOM),
    errors.WrongScope: Rule(403, "PERMISSION_DENIED", _SELDOM),
    PermissionMissing: Rule(403, "PERMISSION_DENIED", _SELDOM),
    PermissionNeeded: Rule(
        403, "PERMISSION_DENIED", _SELDOM, "Your role in this project does not allow this change."
    ),
    errors.KeyRevoked: Rule(403, "PERMISSION_DENIED", _SELDOM),
    errors.ForeignOrigin: Rule(403, "PERMISSION_DENIED", _SELDOM),
    errors.PlainHttp: Rule(403, "PERMISSION_DENIED", _SELDOM),
    errors.NotFound: Rule(404, "NOT_FOUND", _SELDOM),
    errors.UnknownPath: Rule(404, "NOT_FOUND", _SELDOM),
    Unstorable: Rule(
        400, "INVALID_ARGUMENT", _SELDOM, "The profile has a value that the database cannot store."
    ),
    Rejected: Rule(
        404, "NOT_FOUND", _SELDOM, "The project or deployment of this profile was deleted."
    ),
    Http404: Rule(404, "NOT_FOUND", _SELDOM, "Not found: no such URL."),
    errors.UnknownProcedure: Rule(404, "UNIMPLEMENTED", _SELDOM),
    errors.WrongMethod: Rule(405, "UNIMPLEMENTED", _SELDOM),
    errors.NotAcceptable: Rule(406, "INVALID_ARGUMENT", _SELDOM),
    BadParameter: Rule(400, "INVALID_ARGUMENT", _SELDOM),
    InvalidQuery: Rule(400, "INVALID_ARGUMENT", _SELDOM),
    TooSlow: Rule(408, "DEADLINE_EXCEEDED", _SOON),
    MemberChanged: Rule(409, "FAILED_PRECONDITION", _SELDOM),
    KeyNotRotated: Rule(409, "FAILED_PRECONDITION", _SELDOM),
    InvalidInvitation: Rule(409, "FAILED_PRECONDITION", _SELDOM),
    DeletionRejected: Rule(409, "FAILED_PRECONDITION", _SELDOM),
    ExportRejected: Rule(409, "FAILED_PRECONDITION", _SELDOM),
    Conflict: Rule(409, "ALREADY_EXISTS", _SELDOM),
    NoMatchingAgent: Rule(409, "FAILED_PRECONDITION", _SELDOM),
    TooManyPending: Rule(429, "RESOURCE_EXHAUSTED", _SELDOM),
    errors.BodyTooLarge: Rule(413, "RESOURCE_EXHAUSTED", _SELDOM),
    TooLarge: Rule(413, "RESOURCE_EXHAUSTED", _SELDOM),
    LimitReached: Rule(429, "RESOURCE_EXHAUSTED", _SELDOM),
    SavedTreeNotStored: Rule(
        503, "UNAVAILABLE", _SOON, "The blob store is not available. Try again later."
    ),
    errors.TooManyLabelValues: Rule(429, "RESOURCE_EXHAUSTED", _SELDOM),
    errors.TooManyAnnotations: Rule(429, "RESOURCE_EXHAUSTED", _SELDOM),
    errors.QueryTooSlow: Rule(504, "DEADLINE_EXCEEDED", _SELDOM),
    errors.Overloaded: Rule(503, "UNAVAILABLE", _SOON),
    DatabasePoolFull: Rule(503, "UNAVAILABLE", _SOON),
    WorkerLost: Rule(503, "UNAVAILABLE", _SOON),
    QueueUnavailable: Rule(503, "UNAVAILABLE", _SOON),
    DiskFull: Rule(503, "UNAVAILABLE", _SELDOM),
    StoreUnavailable: _DATABASE_UNAVAILABLE,
    db.OperationalError: _DATABASE_UNAVAILABLE,
    db.InterfaceError: _DATABASE_UNAVAILABLE,
}
_RETRY_LATER = {429, 503, 504}
_CODES = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 405: "UNIMPLEMENTED"}


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    status: int
    code: str
    message: str
    retry_after: float
    allowed_methods: tuple[str, ...] = ()  # of 405

    @property
    def body(self) -> bytes:
        """Return a google.rpc.Status as JSON."""
        details = [{"@type": RETRY_INFO, "retryDelay": format_duration(self.retry_after)}]
        error = {
            "code": self.status,
            "status": self.code,
            "message": self.message,
            "details": details,
        }
        return orjson.dumps({"error": error})

    @property
    def headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if self.allowed_methods:
            headers["Allow"] = ", ".join(self.allowed_methods)
        if self.status in _RETRY_LATER:
            headers["Retry-After"] = str(ceil(self.retry_after))
        return headers


def error_response(error: Exception) -> ErrorResponse:
    """Return the error response for the exception that ended a request.

    Unexpected exceptions are logged, and their text is not sent to the client.
    """
    response, rule = _respond(error)
    if rule is not None and rule.status >= 500:
        _log(rule, error)
    return response


def http_status(error: Exception) -> int:
    """Return the status of the error response for an exception, which is logged elsewhere."""
    return _respond(error)[0].status


def _respond(error: Exception) -> tuple[ErrorResponse, Rule | None]:
    """Return the response, and the rule that it was made by."""
    special = _special_response(error)
    if special is not None:
        return special, None
    if is_disk_full(error) and not isinstance(error, DiskFull):
        error = DiskFull(DATABASE_FULL)
    rules = (_RULES[kind] for kind in type(error).__mro__ if kind in _RULES)
    rule = next(rules, _UNKNOWN)
    response = ErrorResponse(
        rule.status,
        rule.code,
        rule.message or str(error),
        _spread(rule.retry_after),
        error.allowed if isinstance(error, errors.WrongMethod) else (),
    )
    return response, rule


def _special_response(error: Exception) -> ErrorResponse | None:
    """Return the response for an exception that has a retry time or a status of its own."""
    if isinstance(error, errors.Throttled):
        return ErrorResponse(409, "ABORTED", str(error), error.retry_after)
    if isinstance(error, QuotaReached):
        return _respond_to_quota(error)
    if isinstance(error, errors.TooManyQueries):
        return ErrorResponse(
            429, "RESOURCE_EXHAUSTED", str(error), _spread(max(1.0, error.resets_in))
        )
    if isinstance(error, TooManyQueriesWaiting):
        return _respond_to_full_queue(error)
    if isinstance(error, APIException):
        code = _CODES.get(error.status_code, "INVALID_ARGUMENT")
        return ErrorResponse(error.status_code, code, str(error.detail), _spread(_SELDOM))
    return None


def unavailable(message: str) -> ErrorResponse:
    """Return 503 for a request that no application has seen."""
    return ErrorResponse(503, "UNAVAILABLE", message, _spread(_SOON))


def reject(error: Exception) -> HttpResponse:
    """Return the error response as Django's HttpResponse."""
    response = error_response(error)
    return HttpResponse(response.body, status=response.status, headers=response.headers)


def rest_framework_handler(error: Exception, context: dict[str, object]) -> HttpResponse:
    """Handle exceptions as REST framework's EXCEPTION_HANDLER."""
    return reject(error)


def _respond_to_quota(error: QuotaReached) -> ErrorResponse:
    """Return 413 for a profile that is over the size limit, 429 for quotas that reset later."""
    if error.resets_in is None:
        return ErrorResponse(413, "RESOURCE_EXHAUSTED", str(error), _spread(_SELDOM))
    delay = error.retry_after
    if delay is None:
        delay = _spread(min(max(1.0, error.resets_in), _QUOTA_STEP))
    return ErrorResponse(429, "RESOURCE_EXHAUSTED", str(error), delay)


def _respond_to_full_queue(error: TooManyQueriesWaiting) -> ErrorResponse:
    """Return 429 if the project has too many queries waiting, 503 if the server has."""
    status, code = (429, "RESOURCE_EXHAUSTED") if error.of_project else (503, "UNAVAILABLE")
    return ErrorResponse(status, code, str(error), _spread(_SOON))


def _log(rule: Rule, error: Exception) -> None:
    """Log an unexpected exception with its stack, and an unavailable service once a minute."""
    if rule is _UNKNOWN:
        log.error("Internal error; the request got a 500 response", exc_info=error)
        return
    message = "Request answered with %d, the client retries: %s"
    if rule is _DATABASE_UNAVAILABLE and not isinstance(error, StoreUnavailable):
        note_failure(Dependency.DATABASE, log, message, rule.status, error)
    else:
        repeated_log.warn(log, message, rule.status, error, key=type(error).__name__)


def _spread(delay: float) -> float:
    """Randomize a delay, so that agents rejected at the same time do not retry at the same time."""
    return min(delay, _LONGEST) * random.uniform(1.0, 1.5)  # noqa: S311  not a secret
