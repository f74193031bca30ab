"""Cost of a query, as Grafana's profiles app shows it: what is stored, without reading it."""

from collections.abc import Iterable
from datetime import datetime

from api.pyroscope.matching import list_series, time_range
from api.pyroscope.proto import querier_pb2 as pb
from api.pyroscope.selectors import Matcher, Selector, parse_selector
from profiles.query import QueryContext, StoredAmount, run_stored_amounts


def analyze_query(
    context: QueryContext, request: pb.AnalyzeQueryRequest, now: datetime
) -> pb.AnalyzeQueryResponse:
    """Return the amounts of the services and types that match, in the head and in blocks.

    Conditions on other labels do not reduce them: such a query reads the same blocks.
    """
    period, selector = time_range(request.start, request.end, now), _parse_query(request.query)
    with context.snapshot:
        keys = list_series(context, selector, period)
        stored = run_stored_amounts(context, period.start, period.end)
    read = {(key.service, key.type.type) for key in keys}
    amounts = [amount for key, amount in stored.items() if key in read]
    scopes = [_build_head_scope(amounts), _build_block_scope(amounts)]
    return pb.AnalyzeQueryResponse(
        query_scopes=scopes,
        query_impact=pb.QueryImpact(
            total_bytes_in_time_range=sum(each.profile_bytes for each in scopes),
            total_queried_series=len(keys),
        ),
    )


def _parse_query(text: str) -> Selector:
    """Parse a query: the id of a profile type, and a selector."""
    selector = parse_selector(text)
    if not selector.name:
        return selector
    by_type = Matcher("__profile_type__", "=", selector.name)
    return Selector("", (*selector.matchers, by_type))


def _build_head_scope(amounts: Iterable[StoredAmount]) -> pb.QueryScope:
    amounts = [each for each in amounts if each.rows]
    return pb.QueryScope(
        component_type="Short term storage",
        component_count=1,
        series_count=len(amounts),
        profile_count=sum(each.rows for each in amounts),
        sample_count=sum(each.samples for each in amounts),
        profile_bytes=sum(each.row_bytes for each in amounts),
    )


def _build_block_scope(amounts: Iterable[StoredAmount]) -> pb.QueryScope:
    amounts = [each for each in amounts if each.blocks]
    return pb.QueryScope(
        component_type="Long term storage",
        component_count=1,
        block_count=sum(each.blocks for each in amounts),
        series_count=len(amounts),
        profile_count=sum(each.block_profiles for each in amounts),
        profile_bytes=sum(each.block_bytes for each in amounts),
    )
