"""What is shown, as files: sums over the profiles, uncut."""

import csv
import io

import pytest

from profiles.engine.digest import DigestLimits, digest, unpack
from profiles.queries import exports
from profiles.query import (
    ExportFormat,
    FilterOption,
    Selection,
    Shape,
    Unanswerable,
    View,
    ViewFilter,
    run_export,
)
from projects.models import Deployment
from tests.profiles import rows

pytestmark = pytest.mark.django_db
WITHOUT_FOO2 = View(filters=(ViewFilter(FilterOption.HIDE, "foo2"),), max_nodes=1)


@pytest.fixture(autouse=True)
def two(shop: Deployment) -> None:
    rows.stored(shop)
    rows.stored(shop, minutes=1)


def test_csv_is_the_list_with_unit_and_profiles_in_its_head(selection: Selection) -> None:
    text = run_export(selection, WITHOUT_FOO2, ExportFormat.CSV).decode()
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


def test_stacks_are_filtered_and_never_cut(selection: Selection) -> None:
    text = run_export(selection, WITHOUT_FOO2, ExportFormat.FOLDED).decode()
    assert text.splitlines() == ["main 4000000", "main;foo1 3000000", "main;foo1;bar 5000000"]


def test_stacks_have_the_shape_of_the_view(selection: Selection) -> None:
    text = run_export(selection, View(shape=Shape.BOTTOM_UP), ExportFormat.FOLDED).decode()
    assert text.splitlines()[0] == "bar;foo1;main 5000000"


def test_pprof_has_lines(selection: Selection) -> None:
    raw = unpack(run_export(selection, View(), ExportFormat.PPROF), 2**20)
    tree = digest(raw, "CPU", DigestLimits()).tree
    assert tree.frames.line.tolist() == [1, 1, 1, 1]
    assert int(tree.self.sum()) == 18_000_000


def test_stacks_that_are_too_long_in_all_are_refused(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MAX_FRAMES", 11)
    assert run_export(selection, View(), ExportFormat.FOLDED)
    monkeypatch.setattr(exports, "MAX_FRAMES", 10)
    for form in set(ExportFormat) - {ExportFormat.CSV}:
        with pytest.raises(Unanswerable, match=r"may have 10 frames .* would have 11\."):
            run_export(selection, View(), form)
