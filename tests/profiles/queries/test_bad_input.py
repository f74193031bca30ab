"""Huge, odd or hostile stored profiles: correct results, or errors that name a limit."""

import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import orjson
import pytest
from django.utils import timezone

from profiles.compaction.compactor import Compactor
from profiles.engine.calltree.tree import Frames, Tree
from profiles.engine.encoding.codec import encode
from profiles.engine.errors import BadProfile
from profiles.engine.hashing import frame_ids, function_ids, node_ids
from profiles.engine.metrics import Metric
from profiles.engine.pprof.decode import DecodeLimits, decode_profile, gunzip
from profiles.engine.string_table import StringTable
from profiles.models import Profile
from profiles.queries.tree_document import coverage_fields
from profiles.query import (
    ExportFormat,
    FilterOption,
    Group,
    InvalidQuery,
    ProfileSelection,
    Shape,
    View,
    ViewFilter,
    compare_document,
    dumps,
    run_compare,
    run_export,
    run_focus,
    run_heat_map,
    run_history,
    run_lines,
    run_options,
    run_profiles,
    run_services,
    run_sparklines,
    run_strip,
    run_top,
    run_tree,
    tree_json,
)
from profiles.storage.insert import insert
from projects.models import Deployment
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.pprofs import PprofBuilder, pprof

pytestmark = pytest.mark.django_db
CPU = ProfileType.CPU
NANOSECONDS = [("cpu", "nanoseconds")]
EXPLODING = r"/^(a+)+$/"

UNHIDDEN = View(filters=(ViewFilter(FilterOption.HIDE, "nothing"),))

Run = Callable[[ProfileSelection], object]
MERGING: dict[str, Run] = {
    "tree": lambda of: tree_json(query_context(of), run_tree(query_context(of), of, View())),
    "lines": lambda of: tree_json(
        query_context(of), run_tree(query_context(of), of, View(group=Group.LINE))
    ),
    "bottom up": lambda of: run_tree(query_context(of), of, View(shape=Shape.BOTTOM_UP)),
    "top": lambda of: run_top(query_context(of), of, View()),
    "focus": lambda of: run_focus(query_context(of), of, View(focus="main")),
    "lines of a function": lambda of: run_lines(query_context(of), of, View(), "main", "app.py"),
    "comparison": lambda of: dumps(
        compare_document(query_context(of), run_compare(query_context(of), of, of, View()))
    ),
    "filtered comparison": lambda of: dumps(
        compare_document(query_context(of), run_compare(query_context(of), of, of, UNHIDDEN))
    ),
    "history": lambda of: run_history(query_context(of), of, View()),
    "pprof": lambda of: run_export(query_context(of), of, View(), ExportFormat.PPROF),
}
LISTING: dict[str, Run] = {
    "profiles": lambda of: run_profiles(query_context(of), of),
    "strip": lambda of: run_strip(query_context(of), of),
    "heat map": lambda of: run_heat_map(query_context(of), of),
    "options": lambda of: run_options(
        query_context(of.project), of.service, of.type, of.start, of.end
    ),
    "sparklines": lambda of: run_sparklines(
        query_context(of.project), {"shop": CPU}, of.start, of.end
    ),
    "services": lambda of: run_services(query_context(of.project), of.start, of.end),
}
merging = pytest.mark.parametrize("run", MERGING.values(), ids=MERGING)
listing = pytest.mark.parametrize("run", LISTING.values(), ids=LISTING)


def store(of: Deployment, tree: Tree, minutes: float = 0) -> None:
    """Store a tree as if an upload had been decoded to it."""
    like = rows.new(of, minutes=minutes)
    metric, total = tree.metrics[0], int(tree.self.sum())
    totals = [(metric.name, metric.unit, total)]
    content = replace(like.content, tree=encode(tree), weight=total, totals=totals)
    assert insert([replace(like, content=content)]) == [True]


def grown(parent: np.ndarray, frame: np.ndarray, own: np.ndarray, functions: int) -> Tree:
    """Return a tree of the functions f0, f1, …"""
    strings = StringTable.from_strings(["app.py", "", *(f"f{i}" for i in range(functions))])
    name = np.arange(2, functions + 2, dtype=np.int32)
    none, file = np.ones(functions, np.int32), np.zeros(functions, np.int32)
    ids = frame_ids(function_ids(strings.ids(), name, file), file)
    frames = Frames(strings, ids, name, file, np.zeros(functions, np.int32), none)
    parent, frame = parent.astype(np.int32), frame.astype(np.int32)
    metrics = (Metric("cpu", "nanoseconds"),)
    nodes = node_ids(parent, frame, ids)
    return Tree(metrics, frames, nodes, parent, frame, own.astype(np.int64)[None, :])


def million_nodes() -> Tree:
    """Return a tree in which each node calls ten others and has a value."""
    count = 1_000_000
    parent = (np.arange(count) - 1) // 10
    return grown(parent, np.arange(count) % 5000, np.arange(count) % 7 + 1, 5000)


def chain(depth: int, every: bool) -> Tree:
    """Return one stack of `depth` frames, with a value at its end or at each frame."""
    own = np.ones(depth) if every else np.arange(depth) == depth - 1
    return grown(np.arange(depth) - 1, np.arange(depth), own, depth)


@pytest.fixture
def a_day(selection: ProfileSelection) -> ProfileSelection:
    """Return the selection's day, from midnight to midnight."""
    start = selection.start.replace(hour=0)
    return replace(selection, start=start, end=start + timedelta(days=1))


ROLLED: dict[str, Callable[[int, datetime], object]] = {
    "head": lambda project, later: None,
    "hour": lambda project, later: Compactor(project, later).build_level1(),
    "day": lambda project, later: Compactor(project, later).compact(),
}


@pytest.fixture(params=ROLLED)
def rolled(request: pytest.FixtureRequest, shop: Deployment) -> Callable[[], None]:
    """Return a function that moves the stored profiles into the storage under test."""
    later = timezone.now() + timedelta(days=3)

    def roll() -> None:
        ROLLED[request.param](shop.project_id, later)

    return roll


@pytest.fixture
def beyond_64_bits(shop: Deployment, rolled: Callable[[], None]) -> None:
    """Store profiles that fit 64 bits each, but not in sum."""
    for minute in range(3):
        rows.stored(shop, {f"main;work{minute}": 2**62}, sample_types=NANOSECONDS, minutes=minute)
    rolled()


@merging
@pytest.mark.parametrize("value", [2**62, 2**63 - 11])
def test_queries_of_a_day_with_one_huge_value_succeed(
    run: Run, value: int, a_day: ProfileSelection, shop: Deployment, rolled: Callable[[], None]
) -> None:
    rows.stored(shop, {"main;work": value}, sample_types=NANOSECONDS)
    rows.stored(shop, {"main;other": 9}, sample_types=NANOSECONDS, minutes=61)
    rolled()
    assert run(a_day)
    tree, compared = (
        run_tree(query_context(a_day), a_day, View()),
        run_compare(query_context(a_day), a_day, a_day, View()),
    )
    history = run_history(query_context(a_day), a_day, View())
    assert tree.coverage.total == int(tree.tree.self.sum()) == value + 9
    assert compared.tree.self.sum(axis=1).tolist() == [value + 9] * 2
    assert sum(step.total for step in history.steps) == value + 9
    assert {line.name: sum(line.self) for line in history.lines} == {"work": value, "other": 9}
    assert {row.name: row.total for row in run_top(query_context(a_day), a_day, View()).rows} == {
        "main": value + 9,
        "work": value,
        "other": 9,
    }
    assert run_strip(query_context(a_day), a_day).steps
    assert run_heat_map(query_context(a_day), a_day).coverage.total == value + 9


def test_folded_sum_of_two_huge_sides_exceeds_64_bits(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop, {"main": 1, "main;work": 2**63 - 9}, sample_types=NANOSECONDS)
    found = run_compare(query_context(selection), selection, selection, View(max_nodes=1))
    assert found.folded == {0: (1, 2 * (2**63 - 9))}
    document = dumps(compare_document(query_context(found.selections[0]), found))
    assert orjson.loads(document)["folded"]["total"] == [2 * (2**63 - 9)]


@merging
def test_sums_beyond_64_bits_are_rejected(
    run: Run, beyond_64_bits: None, selection: ProfileSelection
) -> None:
    with pytest.raises(InvalidQuery, match="64 bits"):
        run(selection)
    assert run(replace(selection, end=selection.start + timedelta(minutes=1)))


@merging
def test_sums_beyond_64_bits_of_a_day_are_rejected(
    run: Run, beyond_64_bits: None, a_day: ProfileSelection
) -> None:
    with pytest.raises(InvalidQuery, match="64 bits"):
        run(a_day)


@listing
def test_lists_accept_sums_beyond_64_bits(
    run: Run, beyond_64_bits: None, selection: ProfileSelection
) -> None:
    assert run(selection)


def test_a_list_of_more_than_64_bits_is_written_exactly(
    beyond_64_bits: None, selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop, {"main": 2**62}, sample_types=NANOSECONDS, minutes=4)
    rows.stored(shop, {"main": 2**62 + 1}, sample_types=NANOSECONDS, minutes=5)
    coverage = run_profiles(query_context(selection), selection).coverage
    assert coverage.total == 5 * 2**62 + 1
    assert json.loads(dumps(coverage_fields(coverage)))["total"] == 5 * 2**62 + 1


def test_values_below_zero_are_never_stored() -> None:
    raw = pprof({"main": -5}, sample_types=NANOSECONDS)
    with pytest.raises(BadProfile, match="-5"):
        decode_profile(raw, CPU, DecodeLimits())


@merging
def test_profiles_without_samples_count_as_profiles(
    run: Run, selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop, {})
    assert run(selection)
    result = run_tree(query_context(selection), selection, View())
    assert (result.coverage.profiles, result.coverage.total) == (1, 0)
    assert orjson.loads(tree_json(query_context(result.selection), result))["frame"] == []


@listing
def test_lists_have_profiles_without_samples(
    run: Run, selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop, {})
    assert run(selection)


@pytest.mark.slow
@pytest.mark.one_database
@merging
def test_queries_of_stacks_of_10000_frames_succeed(
    run: Run, selection: ProfileSelection, shop: Deployment
) -> None:
    store(shop, chain(10_000, every=False))
    assert run(selection)


@pytest.mark.slow
@pytest.mark.one_database
def test_deep_stacks_are_whole_in_every_view(selection: ProfileSelection, shop: Deployment) -> None:
    store(shop, chain(10_000, every=False))
    assert orjson.loads(
        tree_json(query_context(selection), run_tree(query_context(selection), selection, View()))
    )["depth"] == list(range(10_000))
    assert len(run_top(query_context(selection), selection, View()).rows) == 10_000
    focused = run_focus(query_context(selection), selection, View(focus="f5000"))
    assert (len(focused.callers.id), len(focused.callees.id)) == (5001, 5000)
    raw = gunzip(
        run_export(query_context(selection), selection, View(), ExportFormat.PPROF).data, 2**24
    )
    assert len(decode_profile(raw, CPU, DecodeLimits()).tree.id) == 10_000
    hidden = View(filters=(ViewFilter(FilterOption.HIDE_FRAMES, "/[1-9]$/"),))
    assert len(run_tree(query_context(selection), selection, hidden).tree.id) == 1000


@pytest.mark.slow
@pytest.mark.one_database
def test_deep_stacks_with_values_everywhere_are_rejected_by_exports(
    selection: ProfileSelection, shop: Deployment
) -> None:
    store(shop, chain(10_000, every=True))
    assert len(run_tree(query_context(selection), selection, View()).tree.id) == 10_000
    with pytest.raises(InvalidQuery, match="more than 50,000,000 frames in total"):
        run_tree(query_context(selection), selection, View(shape=Shape.BOTTOM_UP))
    with pytest.raises(InvalidQuery, match="the limit is 20,000,000"):
        run_export(query_context(selection), selection, View(), ExportFormat.FOLDED)


@pytest.mark.slow
@pytest.mark.one_database
def test_a_million_nodes_are_folded_and_no_total_is_lost(
    selection: ProfileSelection, shop: Deployment
) -> None:
    tree = million_nodes()
    total = int(tree.self.sum())
    store(shop, tree)
    tracemalloc.start()
    try:
        result = run_tree(query_context(selection), selection, View())
        document = orjson.loads(tree_json(query_context(result.selection), result))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1000 * len(tree.id)  # bytes: bounded by the nodes, for any shape
    assert len(document["frame"]) == 250_000
    assert sum(document["self"]) + sum(document["folded"]["total"]) == total
    assert sum(document["folded"]["count"]) == 750_000


@pytest.mark.slow
@pytest.mark.one_database
@pytest.mark.parametrize("name", ["top", "focus", "bottom up", "lines of a function"])
def test_every_view_of_a_million_nodes_succeeds(
    name: str, selection: ProfileSelection, shop: Deployment
) -> None:
    store(shop, million_nodes())
    assert MERGING[name](selection)


@pytest.mark.slow
@pytest.mark.one_database
def test_a_hundred_thousand_distinct_labels_of_samples(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored_raw(shop, labelled(100_000))
    result = run_tree(query_context(selection), selection, View(group=Group.LINE))
    assert result.coverage.total == 100_000
    assert len(result.tree.id) == 1
    raw = gunzip(
        run_export(query_context(selection), selection, View(), ExportFormat.PPROF).data, 2**26
    )
    exported = decode_profile(raw, CPU, DecodeLimits()).tree.labelled
    assert exported is not None
    assert len(exported.label_sets) == 100_000


def labelled(count: int) -> bytes:
    """Return one stack whose samples have a distinct label each."""
    builder = PprofBuilder()
    builder.message.sample_type.add(type=builder.string("cpu"), unit=builder.string("nanoseconds"))
    frame, key = builder.frame("main"), builder.string("request")
    for number in range(count):
        sample = builder.message.sample.add(location_id=[frame], value=[1])
        sample.label.add(key=key, str=builder.string(f"r{number}"))
    return bytes(builder.message.SerializeToString())


@pytest.mark.slow
@pytest.mark.one_database
def test_ten_thousand_distinct_labels_of_profiles(
    selection: ProfileSelection, shop: Deployment
) -> None:
    """Check as many values as a label may have in a day."""
    first = rows.stored(shop)
    like = Profile.objects.get(name_id=first.name_id)
    made = []
    for number in range(10_000):
        like.pk, like.name_id, like.labels = None, f"n{number}", {"instance": f"web-{number}"}
        made.append(Profile(**{f.attname: getattr(like, f.attname) for f in Profile._meta.fields}))
    Profile.objects.bulk_create(made, batch_size=1000)
    options = LISTING["options"](selection)
    assert len(options.labels["instance"]) == 1000  # type: ignore[attr-defined]
    one = replace(selection, labels=(("instance", ("web-7", "web-8")),))
    assert run_tree(query_context(one), one, View()).coverage.profiles == 2


@pytest.mark.parametrize("option", list(FilterOption))
def test_expressions_with_catastrophic_backtracking_end(
    option: FilterOption, selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop, {f"main;{'a' * 5000}!": 1})
    assert run_tree(
        query_context(selection), selection, View(filters=(ViewFilter(option, EXPLODING),))
    ).coverage.profiles
    with pytest.raises(InvalidQuery, match="Invalid regex"):
        run_tree(
            query_context(selection),
            selection,
            View(filters=(ViewFilter(option, "/((a{0,99}){0,99}){0,99}/"),)),
        )
