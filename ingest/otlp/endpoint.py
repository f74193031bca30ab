"""ASGI endpoint of OTLP profiles over HTTP, without Django."""

from django.conf import settings

from common.asgi import Receive, Scope, Send
from common.request_body import Disconnected
from endpoints import credentials
from endpoints.error_responses import error_response
from endpoints.errors import BadRequest
from endpoints.plain_asgi import IncomingRequest, send_response
from ingest.otlp import messages
from ingest.otlp.development_version import VERSION_HEADER, require_version
from ingest.otlp.export import ExportResult, export, is_json
from ingest.uploads.requests import UploadRequest, read_body
from ingest.uploads.upload_budget import process_budget

PATH = "/v1development/profiles"
# Path of senders before OTLP 1.4, whose messages have another structure.
FORMER_PATH = "/v1experimental/profiles"
PATHS = frozenset({PATH, FORMER_PATH})
REVISION_HEADER = "X-Otlp-Revision"
TRACE_LINKS_HEADER = "X-Otlp-Dropped-Links"


class OtlpEndpoint:
    """ASGI application for the paths in PATHS."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = IncomingRequest(receive)
        as_json = False
        try:
            request = UploadRequest.from_scope(scope, incoming)
            as_json = _says_json(request)
            result, as_json = await _export(request)
            body = messages.response_json(result) if as_json else messages.response_bytes(result)
            headers = {**_content_type(as_json), REVISION_HEADER: result.revision}
            if result.trace_links:
                headers[TRACE_LINKS_HEADER] = str(result.trace_links)
            await send_response(send, 200, headers, body)
        except Disconnected:
            return
        except Exception as error:
            response = error_response(error)
            status = messages.status_json if as_json else messages.status_bytes
            headers = {**response.headers, **_content_type(as_json)}
            await send_response(
                incoming.delay_end(send), response.status, headers, status(response)
            )


async def _export(request: UploadRequest) -> tuple[ExportResult, bool]:
    """Store the profiles of a request; return the result, and True if it came as JSON."""
    request.require_method("POST")
    versions = [
        value.decode("latin-1")
        for name, value in request.scope["headers"]
        if name == VERSION_HEADER.encode()
    ]
    require_version(",".join(versions) if versions else None)
    access = await request.authenticate()
    credentials.require_write(access)
    if request.path == FORMER_PATH:
        raise BadRequest(
            f"{FORMER_PATH} was the path before OTLP 1.4, whose messages this server does not "
            f"read: update the sender to OTLP 1.6 or newer, which sends to {PATH}."
        )
    with process_budget.account(access.project) as account:
        body = await read_body(request, account, int(settings.MAX_UPLOAD_BYTES))
        return await export(request, access, body, account), is_json(body)


def _says_json(request: UploadRequest) -> bool:
    return "json" in request.headers.get("content-type", "").lower()


def _content_type(as_json: bool) -> dict[str, str]:
    return {"Content-Type": messages.JSON if as_json else messages.PROTOBUF}
