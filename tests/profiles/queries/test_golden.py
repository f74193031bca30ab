"""Stored profiles are merged, filtered and listed like `go tool pprof` does it (tests/golden)."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import pytest

from profiles.engine.pprof.gunzip import gunzip
from profiles.query import (
    FilterOption,
    FunctionRow,
    Metric,
    ProfileSelection,
    View,
    ViewFilter,
    run_top,
    run_tree,
)
from projects.models import Project
from projects.profile_types import ProfileType
from tests.golden.queries import MANY_GO, QUERIES, GoldenQuery, Sample
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.engine.test_golden import Costs, pprofs

pytestmark = pytest.mark.django_db
MERGED = [q for q in QUERIES if q.sample == MANY_GO and not q.peek and not q.base]


def stored(project: Project, sample: Sample) -> ProfileSelection:
    """Store all profiles of the sample, alternating between two deployments."""
    type_ = ProfileType(sample.type)
    for minute, path in enumerate(sample.paths):
        of = rows.deployment(project, version=str(minute % 2))
        rows.stored_raw(of, gunzip(path.read_bytes(), 2**24), type=type_, minutes=minute)
    hour = timedelta(hours=1)
    return ProfileSelection(project.pk, "shop", type_, rows.NOON, rows.NOON + hour)


def view(query: GoldenQuery) -> View:
    said = {
        FilterOption.SHOW: query.focus,
        FilterOption.HIDE: query.ignore,
        FilterOption.HIDE_FRAMES: query.hide,
        FilterOption.FROM: query.show_from,
    }
    filters = tuple(ViewFilter(option, f"/{text}/") for option, text in said.items() if text)
    return View(metric=Metric(query.metric, ""), filters=filters)


def by_name(listed: Sequence[FunctionRow]) -> Costs:
    """Sum rows by name as pprof does, because two runtime functions occur in two files each."""
    own, total = Counter[str](), Counter[str]()
    for row in listed:
        own[row.name] += row.self
        total[row.name] += row.total
    return {name: (own[name], total[name]) for name in total if total[name]}


def test_twenty_profiles_are_as_pprof_says(project: Project) -> None:
    selection = stored(project, MANY_GO)
    assert len(MERGED) == 8
    for query in MERGED:
        result = run_top(query_context(selection), selection, view(query))
        assert result.coverage.profiles == 20
        assert by_name(result.rows) == pprofs(query), query.path.name
        tree = run_tree(query_context(selection), selection, view(query)).tree
        assert int(tree.self.sum()) == sum(row.self for row in result.rows)
