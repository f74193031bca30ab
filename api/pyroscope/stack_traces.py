"""Methods about call stacks: flame graphs, differences of two, and pprof profiles."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from api.pyroscope import functions
from api.pyroscope.flame_graph import FlameGraphBuilder, Levels, node_limit
from api.pyroscope.matching import build_view, selections, time_range
from api.pyroscope.profile_types import parse_id
from api.pyroscope.proto import pprof_pb2
from api.pyroscope.proto import querier_pb2 as pb
from api.pyroscope.selectors import parse_selector
from endpoints.errors import UnknownProcedure
from profiles.query import (
    ExportFormat,
    InvalidQuery,
    MetricNotFound,
    ProfileSelection,
    QueryContext,
    ServicesTree,
    run_export,
    run_services_tree,
)

MAX_PROFILES = 50  # of profile_id_selector
MAX_CALL_SITE = 2000  # frames

StacksRequest = pb.SelectMergeStacktracesRequest | pb.SelectMergeProfileRequest


def select_stacks(
    context: QueryContext, request: pb.SelectMergeStacktracesRequest, now: datetime
) -> pb.SelectMergeStacktracesResponse:
    """Merge the profiles that match, and return them in the requested format.

    Without any, the response has no flame graph.
    """
    response = pb.SelectMergeStacktracesResponse()
    is_empty = bool(request.span_selector or request.trace_id_selector)  # spans are not recorded
    match request.format:
        case pb.PROFILE_FORMAT_UNSPECIFIED | pb.PROFILE_FORMAT_FLAMEGRAPH:
            if not is_empty:
                _add_flame_graph(context, request, now, response)
        case pb.PROFILE_FORMAT_PPROF:
            profile = pprof_pb2.Profile() if is_empty else _pprof(context, request, now)
            response.pprof.profile.CopyFrom(profile)
        case pb.PROFILE_FORMAT_FUNCTIONS:
            rows = () if is_empty else _merge_services(context, request, now).functions()
            limit = request.format_options.functions.limit or request.max_nodes
            response.functions.CopyFrom(functions.function_table(rows, limit))
        case pb.PROFILE_FORMAT_SANDWICH:
            if not request.sandwich_function:
                raise InvalidQuery("A sandwich needs sandwich_function, the name of a function.")
            tree = None if is_empty else _merge_services(context, request, now)
            report = functions.sandwich(
                tree, request.sandwich_function, node_limit(request.max_nodes)
            )
            response.sandwich.CopyFrom(report)
        case other:
            names = pb.ProfileFormat
            raise _unknown_format(names.Name(other) if other in names.values() else str(other))
    return response


def require_known_formats(fields: Mapping[str, object]) -> None:
    """Raise UnknownProcedure for a format in a JSON request that only later versions have.

    Parsing drops names of an enum that it does not know, and a client that waits for another
    format would get a flame graph.
    """
    for request in (fields, fields.get("left"), fields.get("right")):
        name = request.get("format") if isinstance(request, Mapping) else None
        if isinstance(name, str) and name not in pb.ProfileFormat.DESCRIPTOR.values_by_name:
            raise _unknown_format(name)


def _unknown_format(name: str) -> UnknownProcedure:
    return UnknownProcedure(f"The format {name} of stack traces")


def _add_flame_graph(
    context: QueryContext,
    request: pb.SelectMergeStacktracesRequest,
    now: datetime,
    response: pb.SelectMergeStacktracesResponse,
) -> None:
    levels = merge_levels(context, [request], request.max_nodes, now)
    if levels.totals[0]:
        response.flamegraph.CopyFrom(
            pb.FlameGraph(
                names=levels.names,
                levels=[pb.Level(values=values) for values in levels.levels],
                total=levels.totals[0],
                max_self=levels.max_self,
            )
        )


def select_span_profile(
    context: QueryContext, request: pb.SelectMergeSpanProfileRequest, now: datetime
) -> pb.SelectMergeSpanProfileResponse:
    """Return an empty response: profiles here do not record spans."""
    parse_id(request.profile_typeID)
    return pb.SelectMergeSpanProfileResponse()


def diff(context: QueryContext, request: pb.DiffRequest, now: datetime) -> pb.DiffResponse:
    """Compare two merges, which may be of different services, by the names of functions.

    The left side's format applies: a flame graph, or a table of functions.
    """
    sides = [request.left, request.right]
    if request.left.format == pb.PROFILE_FORMAT_FUNCTIONS:
        left, right = (_merge_services(context, side, now).functions() for side in sides)
        limit = request.left.format_options.functions.limit
        return pb.DiffResponse(functions=functions.function_tables(left, right, limit))
    levels = merge_levels(context, sides, request.left.max_nodes or request.right.max_nodes, now)
    left_total, right_total = levels.totals
    return pb.DiffResponse(
        flamegraph=pb.FlameGraphDiff(
            names=levels.names,
            levels=[pb.Level(values=values) for values in levels.levels],
            total=left_total + right_total,
            max_self=levels.max_self,
            leftTicks=left_total,
            rightTicks=right_total,
        )
    )


def merge_levels(
    context: QueryContext,
    sides: Sequence[pb.SelectMergeStacktracesRequest],
    max_nodes: int,
    now: datetime,
) -> Levels:
    """Merge the profiles of each side into one flame graph."""
    builder = FlameGraphBuilder(len(sides), context.check)
    nodes = node_limit(max_nodes)
    with context.snapshot:
        for number, side in enumerate(sides):
            builder.add(_merge_services(context, side, now).fold(nodes), number)
    levels = builder.levels(nodes)
    if sum(levels.totals) >= 2**63:
        raise InvalidQuery("The sum of the values exceeds 64 bits. Select fewer profiles.")
    return levels


def select_pprof(
    context: QueryContext, request: pb.SelectMergeProfileRequest, now: datetime
) -> pprof_pb2.Profile:
    """Merge the profiles of one service into a pprof profile with the requested metric only.

    With a call site, the profile has the stacks that begin with it.
    """
    if request.trace_id_selector:
        return pprof_pb2.Profile()  # spans are not recorded
    return _pprof(context, request, now)


def _pprof(context: QueryContext, request: StacksRequest, now: datetime) -> pprof_pb2.Profile:
    call_site = _call_site(request)
    found = _find_selections(context, request, now)
    if len({selection.service for selection in found}) > 1 or len(found) > 1:
        raise InvalidQuery(
            f"The selector matches {len(found)} services or profiles; a pprof profile can be made "
            'of one. Add a condition such as {service_name="…"}.'
        )
    type_id = parse_id(request.profile_typeID)
    profile = pprof_pb2.Profile()
    for selection in found:
        try:
            file = run_export(context, selection, build_view(type_id), ExportFormat.PPROF)
        except MetricNotFound:
            continue
        profile.ParseFromString(gzip.decompress(file.data))
        _keep_default_metric(profile)
        if call_site:
            _keep_call_site(profile, call_site)
        context.check()
    return profile


def _find_selections(
    context: QueryContext, request: StacksRequest, now: datetime
) -> list[ProfileSelection]:
    period = time_range(request.start, request.end, now)
    found = selections(
        context, parse_selector(request.label_selector), parse_id(request.profile_typeID), period
    )
    ids = [*dict.fromkeys(request.profile_id_selector[: MAX_PROFILES + 1])]
    if len(ids) > MAX_PROFILES:
        raise InvalidQuery(f"A request may name {MAX_PROFILES} profiles.")
    if not ids:
        return found
    return [replace(selection, profile=id) for selection in found for id in ids]


def _merge_services(
    context: QueryContext, request: pb.SelectMergeStacktracesRequest, now: datetime
) -> ServicesTree:
    """Merge the profiles that match, of all services; with a call site, the stacks below it."""
    call_site = _call_site(request)
    with context.snapshot:
        found = _find_selections(context, request, now)
        tree = run_services_tree(context, found, parse_id(request.profile_typeID).metric)
    return tree.with_prefix(call_site) if call_site else tree


def _call_site(request: StacksRequest) -> list[str]:
    names = [each.name for each in request.stack_trace_selector.call_site[: MAX_CALL_SITE + 1]]
    if len(names) > MAX_CALL_SITE:
        raise InvalidQuery(f"A call site may have {MAX_CALL_SITE:,} frames.")
    return names


def _keep_default_metric(profile: pprof_pb2.Profile) -> None:
    """Keep the default value of each sample, and the samples in which it is not zero."""
    types = [each.type for each in profile.sample_type]
    retained = types.index(profile.default_sample_type)
    sample_type = profile.sample_type[retained]
    samples = [sample for sample in profile.sample if sample.value[retained]]
    for sample in samples:
        value = sample.value[retained]
        del sample.value[:]
        sample.value.append(value)
    kept_samples = [pprof_pb2.Sample.FromString(each.SerializeToString()) for each in samples]
    kept_type = pprof_pb2.ValueType(type=sample_type.type, unit=sample_type.unit)
    del profile.sample[:], profile.sample_type[:]
    profile.sample.extend(kept_samples)
    profile.sample_type.append(kept_type)


def _keep_call_site(profile: pprof_pb2.Profile, call_site: Sequence[str]) -> None:
    """Keep the samples whose stack begins with these functions, from the root."""
    names = {each.id: profile.string_table[each.name] for each in profile.function}
    frames = {
        each.id: [names.get(line.function_id, "") for line in reversed(each.line)]
        for each in profile.location
    }
    retained = []
    for sample in profile.sample:
        stack = [name for id in reversed(sample.location_id) for name in frames.get(id, ())]
        if stack[: len(call_site)] == [*call_site]:
            retained.append(pprof_pb2.Sample.FromString(sample.SerializeToString()))
    del profile.sample[:]
    profile.sample.extend(retained)
