"""Views of Pyroscope's query API: unary calls of the Connect protocol, and documents in JSON."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from isal import igzip

from api.pyroscope import analysis, labels, render, stack_traces, time_series
from api.pyroscope.proto import querier_pb2 as pb
from api.response import WORTH_COMPRESSING, may_compress
from common.asgi import get_scope
from endpoints import credentials, json_message
from endpoints.api_view import WireView
from endpoints.connect_protocol import connect_rejection
from endpoints.errors import BadRequest, UnknownProcedure
from endpoints.params.reader import MAX_QUERY, BadParameter
from endpoints.query_execution import admit_query, execute
from profiles.query import QueryContext, QueryJob
from projects.audit import Origin
from projects.credentials.authentication import Access

_PROTOBUF, _JSON = "application/proto", "application/json"
_ENCODINGS = (_PROTOBUF, _JSON)


class _Procedure(NamedTuple):
    """Unary call: the type of its request, and the function that makes the response."""

    request: type[Message]
    respond: Callable[[QueryContext, Any, datetime], Message]


_PROCEDURES: Mapping[str, _Procedure] = {
    "ProfileTypes": _Procedure(pb.ProfileTypesRequest, labels.profile_types),
    "LabelNames": _Procedure(pb.LabelNamesRequest, labels.label_names),
    "LabelValues": _Procedure(pb.LabelValuesRequest, labels.label_values),
    "Series": _Procedure(pb.SeriesRequest, labels.series),
    "GetProfileStats": _Procedure(pb.GetProfileStatsRequest, labels.profile_stats),
    "SelectMergeStacktraces": _Procedure(
        pb.SelectMergeStacktracesRequest, stack_traces.select_stacks
    ),
    "SelectMergeSpanProfile": _Procedure(
        pb.SelectMergeSpanProfileRequest, stack_traces.select_span_profile
    ),
    "SelectMergeProfile": _Procedure(pb.SelectMergeProfileRequest, stack_traces.select_pprof),
    "Diff": _Procedure(pb.DiffRequest, stack_traces.diff),
    "SelectSeries": _Procedure(pb.SelectSeriesRequest, time_series.select_series),
    "SelectHeatmap": _Procedure(pb.SelectHeatmapRequest, time_series.select_heat_map),
    "AnalyzeQuery": _Procedure(pb.AnalyzeQueryRequest, analysis.analyze_query),
}


class _QuerierView(WireView):
    """View whose errors are those of the Connect protocol; the key chooses the project."""

    def handle_exception(self, error: Exception) -> HttpResponseBase:
        return connect_rejection(error)

    async def run(
        self, request: HttpRequest, access: Access, function: Callable[..., bytes], *args: object
    ) -> tuple[bytes, bool]:
        """Return the result of a query, and whether it is compressed, within a query's limits."""
        job = QueryJob(run_compressed, (may_compress(request), function, args))
        # The path is one of a bounded number: the view is found, and a procedure is known.
        kind = f"pyroscope_{request.path.rpartition('/')[2]}"
        return await execute(access, job, kind=kind, origin=Origin.from_request(request))


def run_compressed(
    context: QueryContext,
    may_compress: bool,
    function: Callable[..., bytes],
    args: tuple[object, ...],
) -> tuple[bytes, bool]:
    """Return the result of a query, and whether it is compressed, also in a worker process."""
    body = function(context, *args)
    if may_compress and len(body) >= WORTH_COMPRESSING:
        return igzip.compress(body, mtime=0), True
    return body, False


class ProcedureView(_QuerierView):
    """`POST /querier.v1.QuerierService/<procedure>`."""

    http_method_names = ["post"]

    async def post(self, request: HttpRequest, procedure: str) -> HttpResponse:
        access = await _authenticate_reader(request)
        called = _PROCEDURES.get(procedure)
        if called is None:
            raise UnknownProcedure(f"querier.v1.QuerierService/{procedure}")
        encoding = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if encoding not in _ENCODINGS:
            return HttpResponse(status=415, headers={"Accept-Post": ", ".join(_ENCODINGS)})
        await admit_query(access)
        message = _parse_message(called.request, request.body, encoding)
        sent = message.SerializeToString()
        args = (procedure, sent, encoding, timezone.now())
        return _response(*await self.run(request, access, call_procedure, *args), encoding)


def call_procedure(
    context: QueryContext, procedure: str, sent: bytes, encoding: str, now: datetime
) -> bytes:
    """Return the encoded response to a message, also in a worker process."""
    called = _PROCEDURES[procedure]
    message = called.request()
    message.ParseFromString(sent)
    response = called.respond(context, message, now)
    if encoding == _PROTOBUF:
        return response.SerializeToString()
    return json_format.MessageToJson(response, indent=None).encode()


class DocumentView(_QuerierView):
    """`GET /pyroscope/render` and the other documents in JSON."""

    http_method_names = ["get"]
    document: render.Document = staticmethod(render.render)

    async def get(self, request: HttpRequest) -> HttpResponse:
        access = await _authenticate_reader(request)
        await admit_query(access)
        if len(request.META.get("QUERY_STRING", "")) > MAX_QUERY:
            raise BadParameter("the address", f"its parameters may have {MAX_QUERY:,} bytes")
        texts = {name: str(value) for name, value in request.GET.items()}
        found = await self.run(request, access, self.document, texts, timezone.now())
        return _response(*found, _JSON)


class SettingsView(_QuerierView):
    """`POST /settings.v1.SettingsService/Get`: settings of Grafana's app, of which none is kept."""

    http_method_names = ["post"]

    async def post(self, request: HttpRequest) -> HttpResponse:
        await _authenticate_reader(request)
        return _response(b"{}", False, _JSON)


async def _authenticate_reader(request: HttpRequest) -> Access:
    text = credentials.key_text(request.headers, request.GET)
    access = await credentials.access(text, get_scope(request))
    credentials.require_read(access)
    return access


def _parse_message(kind: type[Message], body: bytes, encoding: str) -> Message:
    """Parse a request, without its unknown fields. Raise BadRequest if it is malformed."""
    message = kind()
    try:
        if encoding == _PROTOBUF:
            message.ParseFromString(body)
        else:
            fields = json_message.parse(body or b"{}")
            stack_traces.require_known_formats(fields)
            json_format.ParseDict(fields, message, ignore_unknown_fields=True)
    except (DecodeError, json_format.ParseError) as error:
        raise BadRequest(f"The request is not a valid message: {str(error)[:200]}") from None
    return message


def _response(body: bytes, is_compressed: bool, content_type: str) -> HttpResponse:
    response = HttpResponse(body, content_type=content_type)
    if is_compressed:
        response["Content-Encoding"] = "gzip"
    response["Cache-Control"] = "private, no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response
