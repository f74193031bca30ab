"""Encoded results: equal after decoding, and nothing but results can be decoded."""

from dataclasses import fields, is_dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from profiles.compaction.compactor import Compactor
from profiles.engine.coverage import ScanStats
from profiles.engine.encoding.compression import compress
from profiles.engine.metrics import Metric
from profiles.queries.result_codec import UnknownFormat, decode, digest, encode
from profiles.query import (
    FilterOption,
    ProfileSelection,
    View,
    ViewFilter,
    compare_document,
    dumps,
    focus_json,
    run_compare,
    run_focus,
    run_top,
    run_tree,
    tree_json,
)
from projects.models import Deployment
from tests.profiles import rows
from tests.profiles.contexts import query_context

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(selection: ProfileSelection, shop: Deployment) -> ProfileSelection:
    for minute in range(20):
        rows.stored(shop, {"main;a": minute + 1, f"main;b;été {minute % 3}": 2}, minutes=minute)
    Compactor(shop.project_id, rows.NOON + timedelta(days=3)).build_level1()
    return selection


def same(first: Any, second: Any) -> bool:
    """Compare two values with all arrays in them."""
    if isinstance(first, np.ndarray):
        return bool(first.dtype == second.dtype and np.array_equal(first, second, equal_nan=True))
    if is_dataclass(first):
        names = [field.name for field in fields(first)]
        return type(first) is type(second) and all(
            same(getattr(first, name), getattr(second, name)) for name in names
        )
    if isinstance(first, (tuple, list)) and not hasattr(first, "_fields"):
        return type(first) is type(second) and all(map(same, first, second))
    return bool(first == second)


def test_results_are_the_same_after_decoding(stored: ProfileSelection) -> None:
    context = query_context(stored)
    view = View(filters=(ViewFilter(FilterOption.HIGHLIGHT, "a"),), max_nodes=3)
    tree, top = run_tree(context, stored, view), run_top(context, stored, view)
    focus = run_focus(context, stored, replace(view, focus="a"))
    half = stored.start + timedelta(minutes=10)
    compared = run_compare(context, replace(stored, end=half), replace(stored, start=half), View())
    assert compared.intervals is not None
    for result in (tree, top, focus, compared):
        assert same(decode(encode(result)), result)
    assert tree_json(context, decode(encode(tree))) == tree_json(context, tree)
    assert focus_json(context, decode(encode(focus))) == focus_json(context, focus)
    assert dumps(compare_document(context, decode(encode(compared)))) == dumps(
        compare_document(context, compared)
    )


def test_statistics_are_the_same_after_decoding() -> None:
    stats = ScanStats(total=2**62)
    stats.leave_out(rows.NOON, rows.NOON + timedelta(hours=1), "damaged")
    stats.lack(Metric("a", "b"), [Metric("c", "d")], 3, rows.NOON, rows.NOON)
    assert decode(encode([stats])) == [stats]


def test_equal_keys_have_equal_digests(selection: ProfileSelection) -> None:
    key = (selection, ("variance", Metric("cpu", "nanoseconds")), timedelta(hours=1), (1, 2))
    assert digest(key) == digest((replace(selection), *key[1:]))
    assert digest(key) != digest((*key[:3], (1, 3)))


@pytest.mark.parametrize("value", [object(), 2**64, np.array(["text"]), {1: print}])
def test_other_values_cannot_be_encoded(value: object) -> None:
    with pytest.raises(UnknownFormat):
        encode(value)


@pytest.mark.parametrize(
    "header",
    [
        b'[["class","Popen",["ls"]],[]]',
        b'[["array","|O8",[1],0],[8]]',
        b'[["array","<i8",[9],0],[8]]',
        b'[["array","<i8",[1],0],[80]]',
        b'[["eval","1"],[]]',
        b"[" + b'["list",[' * 450 + b"]]" * 450 + b",[]]",
        b"[[1],[]]",
        b"{",
    ],
)
def test_other_bytes_cannot_be_decoded(header: bytes) -> None:
    body = len(header).to_bytes(8, "little") + header + bytes(-len(header) % 8) + bytes(8)
    for data in (compress(body), body, compress(body)[:-3], b""):
        with pytest.raises(UnknownFormat):
            decode(data)
