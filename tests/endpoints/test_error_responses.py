"""Error responses, each with a reason and a retry delay."""

import logging

import orjson
import pytest
from django.http import Http404
from rest_framework.exceptions import MethodNotAllowed, ParseError, UnsupportedMediaType

from common.worker_processes.workers import WorkerLost
from endpoints import errors
from endpoints.error_responses import RETRY_INFO, error_response
from profiles.engine.errors import BadProfile, TooLarge
from scheduler.long_poll.interface import QueueUnavailable

CASES = [
    (errors.BadField("deployment.target", "is missing"), 400, "INVALID_ARGUMENT"),
    (errors.BadRequest("no"), 400, "INVALID_ARGUMENT"),
    (errors.NoKey("no"), 401, "UNAUTHENTICATED"),
    (errors.WrongScope("no"), 403, "PERMISSION_DENIED"),
    (errors.KeyRevoked(), 403, "PERMISSION_DENIED"),
    (errors.PlainHttp("https://flamewatch.example.org"), 403, "PERMISSION_DENIED"),
    (errors.NotFound("no"), 404, "NOT_FOUND"),
    (Http404("no"), 404, "NOT_FOUND"),
    (errors.WrongMethod("PATCH"), 405, "UNIMPLEMENTED"),
    (errors.BodyTooLarge("FLAMEWATCH_MAX_UPLOAD_BYTES", 10, 11), 413, "RESOURCE_EXHAUSTED"),
    (errors.Throttled(33), 409, "ABORTED"),
    (errors.Overloaded("busy"), 503, "UNAVAILABLE"),
    (QueueUnavailable("away"), 503, "UNAVAILABLE"),
    (ParseError(), 400, "INVALID_ARGUMENT"),
    (MethodNotAllowed("PUT"), 405, "UNIMPLEMENTED"),
    (UnsupportedMediaType("x/y"), 415, "INVALID_ARGUMENT"),
    (RuntimeError("a secret"), 500, "INTERNAL"),
]


@pytest.mark.parametrize(("error", "status", "code"), CASES, ids=lambda case: repr(case)[:40])
def test_every_error_response_has_a_status_and_retry_info(
    error: Exception, status: int, code: str
) -> None:
    response = error_response(error)
    body = orjson.loads(response.body)["error"]
    assert (response.status, body["code"], body["status"]) == (status, status, code)
    assert body["message"]
    (detail,) = body["details"]
    assert detail["@type"] == RETRY_INFO
    assert float(detail["retryDelay"].removesuffix("s")) > 0


@pytest.mark.parametrize(
    ("error", "may_be_repeated"),
    [
        (TooLarge("FLAMEWATCH_MAX_PROFILE_BYTES", 11, 10), False),
        (errors.BodyTooLarge("FLAMEWATCH_MAX_UPLOAD_BYTES", 10, 11), False),
        (BadProfile("Not a pprof profile."), False),
        (errors.WrongScope("no"), False),
        (errors.Overloaded("busy"), True),
        (QueueUnavailable("away"), True),
        (WorkerLost(), True),
    ],
    ids=lambda case: repr(case)[:40],
)
def test_only_requests_that_may_be_repeated_get_retry_after(
    error: Exception, may_be_repeated: bool
) -> None:
    response = error_response(error)
    assert ("Retry-After" in response.headers) == may_be_repeated
    assert RETRY_INFO.encode() in response.body  # when an agent sends its next request


def test_throttle_response_has_the_exact_delay() -> None:
    assert b'"retryDelay":"33s"' in error_response(errors.Throttled(33)).body
    assert b'"retryDelay":"0.250s"' in error_response(errors.Throttled(0.25)).body


def test_retry_delays_of_simultaneous_errors_differ() -> None:
    delays = {error_response(errors.NoKey("no")).retry_after for _ in range(20)}
    assert len(delays) > 10
    assert all(60 <= delay <= 90 for delay in delays)


def test_a_failure_is_logged_and_its_text_is_not_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        response = error_response(RuntimeError("the secret"))
    assert b"secret" not in response.body
    assert "the secret" in caplog.text


def test_a_401_names_the_scheme() -> None:
    assert error_response(errors.NoKey("no")).headers["WWW-Authenticate"] == "Bearer"
