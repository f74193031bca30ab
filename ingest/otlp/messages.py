"""Responses of OTLP: ExportProfilesServiceResponse and google.rpc.Status, in both encodings."""

import orjson

from endpoints.error_responses import RETRY_INFO, ErrorResponse
from endpoints.json_message import format_duration
from ingest.otlp.export import ExportResult
from profiles.engine.pprof.varint import bytes_field, int_field

PROTOBUF, JSON = "application/x-protobuf", "application/json"

# google.rpc.Code
_CODES = {
    "INVALID_ARGUMENT": 3,
    "DEADLINE_EXCEEDED": 4,
    "NOT_FOUND": 5,
    "ALREADY_EXISTS": 6,
    "PERMISSION_DENIED": 7,
    "RESOURCE_EXHAUSTED": 8,
    "FAILED_PRECONDITION": 9,
    "ABORTED": 10,
    "UNIMPLEMENTED": 12,
    "INTERNAL": 13,
    "UNAVAILABLE": 14,
    "UNAUTHENTICATED": 16,
}
# HTTP statuses after which OTLP's clients send the request again.
_RETRYABLE = {429, 503, 504}


def response_bytes(result: ExportResult) -> bytes:
    """Return ExportProfilesServiceResponse; partial_success is set if there is something to say."""
    if not result.message:
        return b""
    message = result.message.encode("utf-8", "replace")
    return bytes_field(1, int_field(1, result.rejected) + bytes_field(2, message))


def response_json(result: ExportResult) -> bytes:
    """Return ExportProfilesServiceResponse as JSON."""
    if not result.message:
        return b"{}"
    partial = {"rejectedProfiles": str(result.rejected), "errorMessage": result.message}
    return orjson.dumps({"partialSuccess": partial})


def code_name(response: ErrorResponse) -> str:
    """Return the google.rpc.Code of an error response for clients of OTLP.

    They send again what is RESOURCE_EXHAUSTED, which does not help against limits of one request.
    """
    return "INVALID_ARGUMENT" if response.status == 413 else response.code


def status_bytes(response: ErrorResponse) -> bytes:
    """Return google.rpc.Status, with RetryInfo if the client may send the request again."""
    status = int_field(1, _CODES[code_name(response)])
    status += bytes_field(2, response.message.encode("utf-8", "replace"))
    if response.status in _RETRYABLE:
        whole = int(response.retry_after)
        nanos = int((response.retry_after - whole) * 1e9)
        delay = bytes_field(1, int_field(1, whole) + int_field(2, nanos))
        status += bytes_field(3, bytes_field(1, RETRY_INFO.encode()) + bytes_field(2, delay))
    return status


def status_json(response: ErrorResponse) -> bytes:
    """Return google.rpc.Status as JSON, see status_bytes."""
    status: dict[str, object] = {
        "code": _CODES[code_name(response)],
        "message": response.message,
    }
    if response.status in _RETRYABLE:
        retry_delay = format_duration(response.retry_after)
        status["details"] = [{"@type": RETRY_INFO, "retryDelay": retry_delay}]
    return orjson.dumps(status)
