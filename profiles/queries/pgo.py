"""Profile for profile-guided optimization: what `go build -pgo` reads, of the newest versions."""

from dataclasses import dataclass, field, replace

from django.conf import settings

from profiles.engine.accumulators.merge import Merge
from profiles.engine.calltree.reshape import count_on_path, remove_nodes, select_stacks
from profiles.engine.calltree.subtree import fold
from profiles.engine.calltree.top import mark_named
from profiles.engine.calltree.tree import Tree
from profiles.engine.coverage import Coverage
from profiles.engine.metrics import Metric
from profiles.engine.pprof import encode
from profiles.queries.context import QueryContext
from profiles.queries.deployments import get_deployments
from profiles.queries.exports import ExportFormat, limit_frames
from profiles.queries.merge_query import ProfilesQuery
from profiles.queries.plan import QueryPlan, ReadOptions, Trees
from profiles.queries.scan import add_profiles, explain_errors
from profiles.queries.selection import InvalidQuery, ProfileSelection, View
from profiles.queries.tree_merge import MergedTree

# Nodes of a file, which bound its size: the compiler uses only the calls that together have 99 % of
# the weight of all calls.
MAX_NODES = 30_000
PREEMPTION = "runtime.asyncPreempt"


@dataclass(frozen=True, slots=True)
class PgoResult:
    """CPU profile in pprof, gzipped, and what it is made of."""

    data: bytes
    selection: ProfileSelection  # with the versions that were chosen
    coverage: Coverage
    usable_total: int  # Σ of the stacks that have a start line of a function; the file has these


def run_pgo(context: QueryContext, selection: ProfileSelection, newest: int) -> PgoResult:
    """Merge the CPU profiles of the selected versions, or of the `newest` ones.

    The compiler knows a call by its distance from the start of the calling function, so code that
    another version has on other lines counts too. Raise InvalidQuery if no stack has a start line.
    """
    context.record.facts.download = ExportFormat.PPROF.value
    with context.snapshot:
        if not selection.versions:
            selection = replace(selection, versions=_find_newest(context, selection, newest))
        metric, _, merged = _PgoMerge(selection).run(context)
    tree, coverage = merged.tree, merged.coverage
    tree = _select_usable(tree, context)
    usable = int(tree.self[0].sum())
    if not usable:
        raise InvalidQuery(_explain_no_stacks(selection, coverage))
    tree = _trim(_remove_preemption(tree, context), context)
    limit_frames(context, tree)
    data = encode.encode(
        tree,
        time_ns=round(coverage.first.timestamp()) * 10**9 if coverage.first else 0,
        duration_ns=coverage.duration_ns,
        default=metric.name,
        period_type=encode.PERIOD_TYPES[selection.type.value],
        check=context.check,
    )
    return PgoResult(data, selection, coverage, usable)


def _find_newest(
    context: QueryContext, selection: ProfileSelection, newest: int
) -> tuple[str, ...]:
    """Return the newest versions of the service that have profiles of the type."""
    versions = (
        each.version
        for each in get_deployments(context)
        if each.service == selection.service and selection.type.value in each.profiled
    )
    return tuple(dict.fromkeys(versions))[:newest]


def _select_usable(tree: Tree, context: QueryContext) -> Tree:
    """Keep the stacks with the start line of at least one function.

    The others are of profiles that were stored without start lines, or of another language: their
    calls would count in the weight of all calls, and name none that the compiler can find.
    """
    has_start_line = tree.frames.get_start_lines()[tree.frame] > 0
    return select_stacks(tree, count_on_path(tree, has_start_line, context.check) > 0)


def _remove_preemption(tree: Tree, context: QueryContext) -> Tree:
    """Count the scheduler's interruptions, and all they call, for the interrupted function.

    On a busy machine they would be the hottest calls of a loop, which the sources lack, and hide
    from the compiler the one that the line has.
    """
    interruption = mark_named(tree.frames, PREEMPTION)[tree.frame]
    return remove_nodes(tree, count_on_path(tree, interruption, context.check) > 0, context.check)


def _trim(tree: Tree, context: QueryContext) -> Tree:
    """Keep the MAX_NODES nodes with the greatest totals; their totals stay the same."""
    trimmed, folded = fold(tree, MAX_NODES, context.check)
    own = trimmed.self.copy()
    for node, (_, total) in folded.items():
        own[0, node] += total
    return replace(trimmed, self=own)


def _explain_no_stacks(selection: ProfileSelection, coverage: Coverage) -> str:
    if not coverage.profiles:
        return f"{selection.service} has no CPU profiles in this range."
    return (
        f"None of the {coverage.profiles:,} profiles has start lines of functions, which the"
        " compiler needs. Profiles of Go programs have them, unless an earlier version of this"
        " server has stored them."
    )


@dataclass(frozen=True)
class _PgoMerge(ProfilesQuery[MergedTree]):
    """Merge by line in which functions that begin on different lines stay apart."""

    selection: ProfileSelection
    view: View = field(default_factory=View)  # the type's default metric

    @property
    def options(self) -> ReadOptions:
        return ReadOptions(trees=Trees.WHOLE)

    def accumulate(self, context: QueryContext, plan: QueryPlan, metric: Metric) -> MergedTree:
        with explain_errors():
            merge = Merge(
                [metric],
                False,
                settings.MAX_QUERY_NODES,
                self.selection.type,
                context.check,
                by_start_line=True,
            )
            coverage = add_profiles(context, plan, metric, merge)
            return MergedTree(replace(merge.tree(), labelled=None), coverage)
