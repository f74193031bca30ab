"""`…/pgo`: a merged CPU profile for profile-guided optimization of Go programs."""

from datetime import timedelta
from functools import partial
from urllib.parse import quote

from django.utils.http import http_date

from api.formats import PPROF
from api.requests import ApiQuery, ApiRequest
from endpoints.params import values
from endpoints.params.parameter import Parameter
from endpoints.params.selection import SERVICE, VERSION, ZONE, TimeRange, read_range
from profiles.query import ExportFile, PgoResult, ProfileSelection, QueryContext, run_pgo
from projects.profile_types import ProfileType

_RANGE = TimeRange(timedelta(days=7))
NEWEST = Parameter(
    "newest", "Number of the newest versions, if none is named", partial(values.count, most=50), 3
)


def query(request: ApiRequest) -> ApiQuery:
    form, reader = request.form(PPROF), request.parameters
    service, newest = reader.read_required(SERVICE), reader.read(NEWEST)
    start, end = read_range(reader, request.now, _RANGE).bounds(request.now)
    selection = ProfileSelection(
        project=request.project,
        service=service,
        type=ProfileType.CPU,
        start=start,
        end=end,
        zones=reader.several(ZONE),
        versions=reader.several(VERSION),
    )

    def run(context: QueryContext) -> ExportFile:
        result = run_pgo(context, selection, newest)
        return ExportFile(result.data, result.coverage.left_out, _headers(result))

    return ApiQuery(run, end, service, form)


def _headers(result: PgoResult) -> dict[str, str]:
    """Return what the file is made of, and how fresh it is."""
    coverage, last = result.coverage, result.coverage.last
    headers = {
        "X-Flamewatch-Profiles": str(coverage.profiles),
        "X-Flamewatch-Versions": ",".join(map(quote, result.selection.versions)),
        "X-Flamewatch-Coverage": f"{100 * result.usable_total / coverage.total:.1f}%",
    }
    if coverage.first is not None and last is not None:
        headers["X-Flamewatch-First"] = coverage.first.isoformat()
        headers["X-Flamewatch-Last"] = last.isoformat()
        headers["Last-Modified"] = http_date(last.timestamp())
    return headers
