"""ASGI endpoint of Pyroscope's clients: /ingest, and the Connect service push.v1.PusherService."""

import orjson

from common.asgi import Receive, Scope, Send
from common.request_body import Disconnected
from endpoints.connect_protocol import send_connect_error
from endpoints.plain_asgi import IncomingRequest, send_error, send_response
from ingest.pyroscope.ingest import ingest
from ingest.pyroscope.multipart import media_type
from ingest.pyroscope.push import JSON, READERS, push
from ingest.uploads.requests import UploadRequest

INGEST = "/ingest"
PUSH = "/push.v1.PusherService/Push"
PATHS = (INGEST, PUSH)
_EMPTY = {JSON: b"{}"}  # PushResponse has no fields; in protocol buffers it has no bytes


async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for one of PATHS (an ASGI application)."""
    incoming = IncomingRequest(receive)
    is_push = scope["path"] == PUSH
    try:
        request = UploadRequest.from_scope(scope, incoming)
        request.require_method("POST")
        if is_push:
            await _push(request, incoming.delay_end(send))
        else:
            stored = orjson.dumps(await ingest(request))
            await send_response(send, 200, {"Content-Type": JSON}, stored)
    except Disconnected:
        return
    except Exception as error:
        respond = send_connect_error if is_push else send_error
        await respond(incoming.delay_end(send), error)


async def _push(request: UploadRequest, send: Send) -> None:
    """Store a PushRequest, and send the response in the same encoding, or 415."""
    content_type = media_type(request.headers.get("content-type", ""))
    reader = READERS.get(content_type)
    if reader is None:
        await send_response(send, 415, {"Accept-Post": ", ".join(READERS)}, b"")
        return
    await push(request, reader)
    headers = {"Content-Type": content_type}
    await send_response(send, 200, headers, _EMPTY.get(content_type, b""))
