"""Messages of the Model Context Protocol: JSON-RPC 2.0 in the body of an HTTP request.

Revision 2026-07-28 has no sessions: each request has its version and its method in `_meta` and in
headers. Clients of earlier revisions begin with `initialize`; the server keeps no session of it.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import orjson

from endpoints import json_message
from endpoints.errors import BadField, BadRequest

STATELESS_VERSION = "2026-07-28"
# Revisions that begin with `initialize`; the first is offered to a client of an unknown one.
INITIALIZE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
SUPPORTED_VERSIONS = (STATELESS_VERSION, *INITIALIZE_VERSIONS)
# The only revision with batches; it is meant by a request without the header, too.
BATCH_VERSION = "2025-03-26"
MAX_BATCH = 10  # messages
_META = "io.modelcontextprotocol"
VERSION_FIELD = f"{_META}/protocolVersion"
CAPABILITIES_FIELD = f"{_META}/clientCapabilities"
SERVER_FIELD = f"{_META}/serverInfo"
_VERSION_HEADER, _METHOD_HEADER, _NAME_HEADER = "mcp-protocol-version", "mcp-method", "mcp-name"
DISCOVER, CALL_TOOL = "server/discover", "tools/call"
_ENCODED = "=?base64?", "?="  # around a header's value that is not plain ASCII

MessageId = str | int
Params = dict[str, Any]


class ErrorCode(IntEnum):
    """Codes of JSON-RPC and of the protocol."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    HEADER_MISMATCH = -32020
    UNSUPPORTED_VERSION = -32022


_STATUS = {
    ErrorCode.PARSE_ERROR: 400,
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.METHOD_NOT_FOUND: 404,
    ErrorCode.INVALID_PARAMS: 400,
    ErrorCode.INTERNAL_ERROR: 500,
    ErrorCode.HEADER_MISMATCH: 400,
    ErrorCode.UNSUPPORTED_VERSION: 400,
}
_ABOUT_ENVELOPE = {
    ErrorCode.PARSE_ERROR,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.HEADER_MISMATCH,
    ErrorCode.UNSUPPORTED_VERSION,
}


class MessageError(Exception):
    """Error that a JSON-RPC response reports; the protocol has none for the use of a tool."""

    def __init__(self, code: ErrorCode, text: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.code, self.data = code, data

    def status(self, is_stateless: bool) -> int:
        """Return the HTTP status; before 2026-07-28 errors about a method have 200."""
        return _STATUS[self.code] if is_stateless or self.code in _ABOUT_ENVELOPE else 200


@dataclass(frozen=True, slots=True)
class McpMessage:
    """Request or notification of a client."""

    id: MessageId | None  # None: a notification, or the client's response; neither is answered
    method: str = ""
    params: Params = field(default_factory=dict)
    is_stateless: bool = False  # of revision 2026-07-28


def parse_body(body: bytes, headers: Mapping[str, str]) -> list[Any] | Params:
    """Parse the body: a message, or a batch of at most MAX_BATCH of an earlier revision."""
    if body.lstrip()[:1] != b"[":
        try:
            return json_message.parse(body)
        except BadField as error:
            raise MessageError(ErrorCode.INVALID_REQUEST, str(error)) from None
        except BadRequest as error:
            raise MessageError(ErrorCode.PARSE_ERROR, str(error)) from None
    if headers.get(_VERSION_HEADER, BATCH_VERSION) != BATCH_VERSION:
        raise MessageError(
            ErrorCode.INVALID_REQUEST, f"Only revision {BATCH_VERSION} has batches of messages."
        )
    try:
        batch: list[Any] = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MessageError(ErrorCode.PARSE_ERROR, f"The body is not valid JSON: {error}") from None
    if not 0 < len(batch) <= MAX_BATCH:
        raise MessageError(
            ErrorCode.INVALID_REQUEST,
            f"A batch may have 1 to {MAX_BATCH} messages; this one has {len(batch):,}.",
        )
    return batch


def find_id(document: object) -> MessageId | None:
    """Return the id of a message that may be malformed, None if it has none."""
    value = document.get("id") if isinstance(document, dict) else None
    is_id = isinstance(value, str | int) and not isinstance(value, bool)
    return value if is_id else None


def is_stateless(document: object, headers: Mapping[str, str]) -> bool:
    """Return True if a message, which may be malformed, is of a revision without sessions."""
    if headers.get(_VERSION_HEADER) == STATELESS_VERSION:
        return True
    if not isinstance(document, dict):
        return False
    return document.get("method") == DISCOVER or VERSION_FIELD in _read_meta(document)


def read_message(document: object, headers: Mapping[str, str]) -> McpMessage:
    """Check a message of the body, and that the headers agree with it. Raise MessageError."""
    if not isinstance(document, dict) or document.get("jsonrpc") != "2.0":
        raise MessageError(ErrorCode.INVALID_REQUEST, "The body must be a JSON-RPC 2.0 message.")
    version = headers.get(_VERSION_HEADER)
    if "method" not in document and ("result" in document or "error" in document):
        return McpMessage(None)  # this server has sent no request
    method, params = document.get("method"), document.get("params", {})
    if not isinstance(method, str) or not isinstance(params, dict):
        raise MessageError(
            ErrorCode.INVALID_REQUEST, "method must be a string, and params an object."
        )
    if "id" not in document:
        _require_supported(version or STATELESS_VERSION)
        return McpMessage(None, method, params)
    if find_id(document) is None:
        raise MessageError(ErrorCode.INVALID_REQUEST, "id must be a string or an integer.")
    if is_stateless(document, headers):
        _require_envelope(method, params, headers)
        return McpMessage(find_id(document), method, params, is_stateless=True)
    if version is not None:
        _require_supported(version)
    return McpMessage(find_id(document), method, params)


def _require_envelope(method: str, params: Params, headers: Mapping[str, str]) -> None:
    """Check what each request of revision 2026-07-28 says of itself, in the body and in headers."""
    meta = _read_meta({"params": params})
    version = meta.get(VERSION_FIELD)
    if not isinstance(version, str) or not isinstance(meta.get(CAPABILITIES_FIELD), dict):
        raise MessageError(
            ErrorCode.INVALID_PARAMS,
            f"params._meta must have {VERSION_FIELD} and {CAPABILITIES_FIELD}.",
        )
    _require_header(_VERSION_HEADER, headers, version)
    _require_supported(version, (STATELESS_VERSION,))
    _require_header(_METHOD_HEADER, headers, method)
    if method == CALL_TOOL:
        _require_header(_NAME_HEADER, headers, str(params.get("name")))


def _require_header(name: str, headers: Mapping[str, str], expected: str) -> None:
    sent = headers.get(name)
    value = None if sent is None else _decode_header(sent)
    if value == expected:
        return
    problem = "is missing" if value is None else f"is {value[:100]!r}"
    raise MessageError(
        ErrorCode.HEADER_MISMATCH,
        f"Header mismatch: {name} {problem}, and the body has {expected[:100]!r}.",
    )


def _decode_header(value: str) -> str | None:
    """Decode a header's value; None if its base64 is malformed."""
    before, after = _ENCODED
    if not (value.startswith(before) and value.endswith(after)):
        return value
    try:
        return base64.b64decode(value[len(before) : -len(after)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _require_supported(version: str, supported: Sequence[str] = SUPPORTED_VERSIONS) -> None:
    if version not in supported:
        raise MessageError(
            ErrorCode.UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            {"supported": SUPPORTED_VERSIONS, "requested": version[:100]},
        )


def _read_meta(document: Mapping[str, Any]) -> dict[str, Any]:
    params = document.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def result_document(message: McpMessage, result: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message.id, "result": result}


def error_document(id: MessageId | None, error: MessageError) -> dict[str, Any]:
    fields: dict[str, Any] = {"code": int(error.code), "message": str(error)}
    if error.data is not None:
        fields["data"] = error.data
    return {"jsonrpc": "2.0", "id": id, "error": fields}
