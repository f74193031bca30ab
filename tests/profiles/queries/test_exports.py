"""File exports of the shown view, with full sums over the profiles."""

import csv
import io
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from profiles.engine.pprof.decode import DecodeLimits, decode_profile, gunzip
from profiles.queries import exports
from profiles.query import (
    ExportFile,
    ExportFormat,
    FilterOption,
    InvalidQuery,
    ProfileSelection,
    Shape,
    View,
    ViewFilter,
    run_export,
)
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.pprof_proto import Profile
from tests.profiles.queries.compaction_stages import compact_to

pytestmark = pytest.mark.django_db
WITHOUT_FOO2 = View(filters=(ViewFilter(FilterOption.HIDE, "foo2"),), max_nodes=1)


@pytest.fixture(autouse=True)
def two(shop: Deployment) -> None:
    rows.stored(shop)
    rows.stored(shop, minutes=1)


def test_csv_is_the_list_with_unit_and_profiles_in_its_head(selection: ProfileSelection) -> None:
    text = run_export(
        query_context(selection), selection, WITHOUT_FOO2, ExportFormat.CSV
    ).data.decode()
    assert list(csv.reader(io.StringIO(text))) == [
        [
            "name",
            "file",
            "self (nanoseconds, sum of 2 profiles)",
            "total (nanoseconds, sum of 2 profiles)",
            "count (stacks)",
        ],
        ["bar", "app.py", "5000000", "5000000", "1"],
        ["main", "app.py", "4000000", "12000000", "3"],
        ["foo1", "app.py", "3000000", "8000000", "2"],
    ]


def test_stacks_are_filtered_and_never_cut(selection: ProfileSelection) -> None:
    text = run_export(
        query_context(selection), selection, WITHOUT_FOO2, ExportFormat.FOLDED
    ).data.decode()
    assert text.splitlines() == ["main 4000000", "main;foo1 3000000", "main;foo1;bar 5000000"]


def test_stacks_have_the_shape_of_the_view(selection: ProfileSelection) -> None:
    text = run_export(
        query_context(selection), selection, View(shape=Shape.BOTTOM_UP), ExportFormat.FOLDED
    ).data.decode()
    assert text.splitlines()[0] == "bar;foo1;main 5000000"


def test_pprof_has_lines(selection: ProfileSelection) -> None:
    raw = gunzip(
        run_export(query_context(selection), selection, View(), ExportFormat.PPROF).data, 2**20
    )
    tree = decode_profile(raw, "CPU", DecodeLimits()).tree
    assert tree.frames.line.tolist() == [1, 1, 1, 1]
    assert int(tree.self.sum()) == 18_000_000


def test_stacks_that_are_too_long_in_total_are_rejected(
    selection: ProfileSelection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MAX_FRAMES", 11)
    assert run_export(query_context(selection), selection, View(), ExportFormat.FOLDED)
    monkeypatch.setattr(exports, "MAX_FRAMES", 10)
    for form in set(ExportFormat) - {ExportFormat.CSV}:
        with pytest.raises(InvalidQuery, match=r"would have 11 frames in total; the limit is 10\."):
            run_export(query_context(selection), selection, View(), form)


GO_HEAP = (
    *(("alloc_objects", "count"), ("alloc_space", "bytes")),
    *(("inuse_objects", "count"), ("inuse_space", "bytes")),
)
HEAP_STACKS = {"main;a": [9, 900, 3, 300], "main;b": [5, 500, 1, 100]}


def heap_of(selection: ProfileSelection) -> ProfileSelection:
    return replace(selection, type=ProfileType.HEAP)


def exported(selection: ProfileSelection, view: View) -> tuple[Any, ExportFile]:
    file = run_export(query_context(selection), selection, view, ExportFormat.PPROF)
    return Profile.FromString(gunzip(file.data, 2**20)), file


def types_of(message: Any) -> list[tuple[bytes, bytes]]:
    strings = message.string_table
    return [(strings[each.type], strings[each.unit]) for each in message.sample_type]


def test_pprof_has_all_shared_metrics_in_the_order_of_go(
    selection: ProfileSelection, shop: Deployment
) -> None:
    for minutes in (1, 2):
        rows.stored(shop, HEAP_STACKS, minutes=minutes, type=ProfileType.HEAP, sample_types=GO_HEAP)
    hidden = View(filters=(ViewFilter(FilterOption.HIDE, "b"),))
    for view, sums in ((View(), [28, 2800, 8, 800]), (hidden, [18, 1800, 6, 600])):
        message, file = exported(heap_of(selection), view)
        assert types_of(message) == [(n.encode(), u.encode()) for n, u in GO_HEAP]
        assert [sum(s.value[k] for s in message.sample) for k in range(4)] == sums
        assert message.string_table[message.default_sample_type] == b"inuse_space"
        period = message.period_type
        assert message.string_table[period.type] == b"space"
        assert message.string_table[period.unit] == b"bytes"
        assert file.left_out == 0


def test_pprof_has_the_samples_before_the_cpu_time(
    selection: ProfileSelection, shop: Deployment
) -> None:
    later = replace(selection, start=rows.NOON + timedelta(minutes=5))
    kinds = [("samples", "count"), ("cpu", "nanoseconds")]
    rows.stored(shop, {"main": [3, 30]}, minutes=6, sample_types=kinds)
    rows.stored(shop, {"main": [4, 40]}, minutes=7, sample_types=[("sample", "count"), kinds[1]])
    message, _ = exported(later, View())
    assert types_of(message) == [(b"samples", b"count"), (b"cpu", b"nanoseconds")]
    assert [list(sample.value) for sample in message.sample] == [[7, 70]]


def test_pprof_leaves_out_metrics_that_some_profiles_lack(
    selection: ProfileSelection, shop: Deployment
) -> None:
    kinds = [("samples", "count"), ("cpu", "nanoseconds")]
    rows.stored(shop, {"main": [3, 30]}, minutes=6, sample_types=kinds)
    rows.stored(shop, {"main": [4]}, minutes=7, sample_types=kinds[:1])
    message, file = exported(selection, View())  # beside two profiles with cpu alone
    assert types_of(message) == [(b"cpu", b"nanoseconds")]
    assert file.left_out == 1
    comment = message.string_table[message.comment[0]].decode()
    assert comment == "Profiles left out: 1. No metric cpu (nanoseconds); available: " + (
        "samples (count)."
    )
    text = run_export(query_context(selection), selection, View(), ExportFormat.CSV).data.decode()
    assert "self (nanoseconds, sum of 3 profiles, 1 left out)" in text


def test_pprof_is_the_same_from_blocks(
    project: Project, selection: ProfileSelection, shop: Deployment
) -> None:
    for minutes in (1, 2):
        rows.stored(shop, HEAP_STACKS, minutes=minutes, type=ProfileType.HEAP, sample_types=GO_HEAP)
    whole = replace(heap_of(selection), end=rows.NOON + timedelta(days=2))
    before, _ = exported(whole, View())
    compact_to(project, "days")
    after, _ = exported(whole, View())
    assert types_of(after) == types_of(before)
    assert sorted(tuple(s.value) for s in after.sample) == sorted(
        tuple(s.value) for s in before.sample
    )
