"""Trees split by the values of a label."""

import gzip
import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from profiles.engine.accumulators import split as engine
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.query import (
    DeadlinePassed,
    ExportFormat,
    FilterOption,
    Group,
    Grouping,
    GroupKind,
    InvalidQuery,
    ProfileSelection,
    SavedTree,
    Selection,
    Shape,
    TreeResult,
    View,
    ViewFilter,
    run_export,
    run_focus,
    run_sample_labels,
    run_tree,
    run_tree_and_top,
    save_tree,
    tree_json,
)
from projects.models import Deployment, Project, User
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.contexts import query_context
from tests.profiles.pprofs import labelled_pprof
from tests.profiles.queries.compaction_stages import STAGES, compact_to
from tests.profiles.queries.labelled_profiles import (
    ENDPOINT,
    INSTANCE,
    KEYS,
    MICROSECOND,
    VERSION,
    ZONE,
    LabelledProfile,
    cut,
    fill,
    whole,
)
from tests.profiles.queries.test_tree import paths

pytestmark = pytest.mark.django_db

HIDE_B = ViewFilter(FilterOption.HIDE_FRAMES, "b")


def stacks(selection: ProfileSelection, view: View) -> dict[str, int]:
    """Return the self values of a view's stacks, without those that are zero."""
    context = query_context(selection)
    result = run_tree(context, selection, view)
    own_values = {path: own for path, own in paths(tree_json(context, result)).items() if own}
    return own_values | {"": int(result.tree.self.sum())}


def _document_paths(selection: Selection, view: View) -> dict[str, int]:
    context = query_context(selection)
    return paths(tree_json(context, run_tree(context, selection, view)))


def expected(
    sent: list[LabelledProfile], selection: ProfileSelection, split: Grouping
) -> dict[str, int]:
    """Sum the samples by value and stack; samples of other endpoints than selected do not count."""
    sums: Counter[str] = Counter()
    allowed = dict(selection.samples).get("endpoint")
    for each in sent:
        if not selection.start <= each.time < selection.end:
            continue
        for (stack, endpoint), count in each.stacks.items():
            if allowed is None or (endpoint or "") in allowed:
                value = KEYS[split](each, endpoint) or engine.NOT_SET
                sums[f"{split.label}: {value};{stack}"] += count * MICROSECOND
    return {**sums, "": sum(sums.values())}


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_each_value_has_the_stacks_of_its_samples(project: Project, stage: str) -> None:
    sent = fill(project)
    compact_to(project, stage)
    pay, unset = ("/pay", "/list"), ("/pay", "")
    restrictions = [(), *((("endpoint", allowed),) for allowed in (pay, unset, ("",)))]
    for of in (whole(project), cut(project)):
        for selection in (replace(of, samples=samples) for samples in restrictions):
            plain = run_tree(query_context(selection), selection, View())
            for split in (VERSION, ZONE, INSTANCE, ENDPOINT):
                for group in Group:
                    view = View(split=split, group=group)
                    found = stacks(selection, view)
                    assert found == expected(sent, selection, split), (split, group, selection)
                    assert found[""] == plain.tree.self.sum()


@pytest.fixture
def endpoints(shop: Deployment) -> None:
    raw = labelled_pprof(
        {("main;a;b", "/pay"): 5, ("main;b", "/list"): 3, ("main;a", "/list"): 1, ("main", ""): 2}
    )
    rows.stored_raw(shop, raw)


SPLIT = View(split=ENDPOINT)


@pytest.mark.usefixtures("endpoints")
def test_bottom_up_has_the_values_as_roots(selection: ProfileSelection) -> None:
    found = _document_paths(selection, replace(SPLIT, shape=Shape.BOTTOM_UP))
    assert {path: own for path, own in found.items() if own} == {
        "endpoint: /pay;b;a;main": 5000,
        "endpoint: /list;b;main": 3000,
        "endpoint: /list;a;main": 1000,
        "endpoint: (not set);main": 2000,
    }
    assert {path for path in found if ";" not in path} == {
        *("endpoint: /pay", "endpoint: /list", "endpoint: (not set)"),
    }


@pytest.mark.usefixtures("endpoints")
@pytest.mark.parametrize(
    ("option", "value", "remaining"),
    [
        ("hideframes", "b", {"/pay;main;a": 5, "/list;main": 3, "/list;main;a": 1}),
        ("from", "/^a$/", {"/pay;a;b": 5, "/list;a": 1}),
        ("show", "b", {"/pay;main;a;b": 5, "/list;main;b": 3}),
        ("hide", "endpoint", {"/pay;main;a;b": 5, "/list;main;b": 3, "/list;main;a": 1}),
    ],
)
def test_filters_match_functions_and_keep_the_split(
    selection: ProfileSelection, option: str, value: str, remaining: Mapping[str, int]
) -> None:
    view = replace(SPLIT, filters=(ViewFilter(FilterOption(option), value),))
    found = _document_paths(selection, view)
    labelled = {path: own for path, own in found.items() if own and "not set" not in path}
    assert labelled == {f"endpoint: {path}": own * 1000 for path, own in remaining.items()}


@pytest.mark.usefixtures("endpoints")
def test_only_the_heaviest_values_have_a_root(
    selection: ProfileSelection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profiles.queries.views.MAX_VALUES", 1)
    found = _document_paths(selection, SPLIT)
    assert {path: own for path, own in found.items() if own} == {
        "endpoint: /pay;main;a;b": 5000,
        "endpoint: (other values);main;b": 3000,
        "endpoint: (other values);main;a": 1000,
        "endpoint: (not set);main": 2000,
    }


def test_only_the_heaviest_values_of_profiles_have_a_root(
    selection: ProfileSelection, shop: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profiles.queries.tree_merge.MAX_VALUES", 2)
    for number in range(5):
        rows.stored(shop, {"main": number + 1}, labels={"instance": f"i{number}"})
    assert stacks(selection, View(split=INSTANCE)) == {
        "instance: i4;main": 5000,
        "instance: i3;main": 4000,
        "instance: (other values);main": 6000,
        "": 15_000,
    }


@pytest.mark.usefixtures("endpoints")
def test_frames_of_the_split_are_no_functions(selection: ProfileSelection) -> None:
    context = query_context(selection)
    drawn, top, _ = run_tree_and_top(context, selection, SPLIT)
    assert isinstance(drawn, TreeResult)
    document = json.loads(tree_json(context, drawn))
    frames = document["frames"]
    marked = [document["names"][frames["name"][i]] for i in document["split"]["frames"]]
    assert sorted(marked) == ["endpoint: (not set)", "endpoint: /list", "endpoint: /pay"]
    assert document["split"]["by"] == "sample.endpoint"
    assert [row.name for row in top.rows] == ["b", "main", "a"]


@pytest.mark.usefixtures("endpoints")
def test_the_list_below_a_value_has_its_functions_only(selection: ProfileSelection) -> None:
    tree = run_tree(query_context(selection), selection, SPLIT).tree
    strings = tree.frames.strings
    by_name = {
        strings[name]: int(node)
        for node, name, parent in zip(
            tree.id.tolist(), tree.frames.name[tree.frame].tolist(), tree.parent, strict=True
        )
        if parent < 0
    }
    of = replace(SPLIT, root=by_name["endpoint: /list"])
    _, top, _ = run_tree_and_top(query_context(selection), selection, replace(of, root=None))
    assert len(top.rows) == 3
    drawn = run_tree(query_context(selection), selection, of)
    assert drawn.tree.self.sum() == 4000


def test_a_focus_cannot_be_split(selection: ProfileSelection, shop: Deployment) -> None:
    rows.stored(shop)
    with pytest.raises(InvalidQuery, match="cannot be split"):
        run_focus(query_context(selection), selection, View(focus="main", split=ENDPOINT))


@pytest.mark.usefixtures("endpoints")
def test_pprof_files_have_the_values_as_roots_like_tagroot(selection: ProfileSelection) -> None:
    file = run_export(query_context(selection), selection, SPLIT, ExportFormat.PPROF)
    tree = decode_profile(gzip.decompress(file.data), ProfileType.CPU, DecodeLimits()).tree
    strings = tree.frames.strings
    roots = tree.frame[tree.parent < 0].tolist()
    found = {(strings[tree.frames.name[i]], strings[tree.frames.file[i]]) for i in roots}
    assert found == {("/pay", "endpoint"), ("/list", "endpoint"), ("(not set)", "endpoint")}
    assert tree.self[0].sum() == 11_000
    assert tree.labelled is not None
    assert {label.value for each in tree.labelled.label_sets for label in each} == {
        *("/pay", "/list"),
    }


@pytest.mark.usefixtures("endpoints")
def test_folded_stacks_begin_with_the_value(selection: ProfileSelection) -> None:
    file = run_export(query_context(selection), selection, SPLIT, ExportFormat.FOLDED)
    assert "endpoint: /pay;main;a;b 5000" in file.data.decode().splitlines()


@pytest.mark.usefixtures("endpoints")
def test_a_snapshot_is_split_by_labels_of_its_samples(
    selection: ProfileSelection, alice: User
) -> None:
    live = _document_paths(selection, SPLIT)
    context = query_context(selection)
    taken = save_tree(context, selection, View(), title="Noon", query="", actor=alice)
    stored = SavedTree(
        selection.project, taken.id, selection.service, selection.type, taken.start, taken.end
    )
    assert _document_paths(stored, SPLIT) == live
    labels = run_sample_labels(query_context(stored), stored)
    assert labels == {"endpoint": ("/list", "/pay")}
    with pytest.raises(InvalidQuery, match="only by a label of its samples"):
        run_tree(query_context(stored), stored, View(split=ZONE))


@pytest.mark.parametrize("split", [ENDPOINT, INSTANCE])
def test_the_deadline_ends_a_split(
    selection: ProfileSelection, shop: Deployment, split: Grouping
) -> None:
    rows.stored(shop)
    late = query_context(selection, time.monotonic() - 1)
    with pytest.raises(DeadlinePassed):
        run_tree(late, selection, View(split=split))


def test_split_by_a_label_that_no_profile_has_gives_one_root(
    selection: ProfileSelection, shop: Deployment
) -> None:
    rows.stored(shop)
    for kind in (GroupKind.SAMPLE, GroupKind.LABEL):
        found = stacks(selection, View(split=Grouping(kind, "tenant")))
        assert {path.split(";")[0] for path in found if path} == {"tenant: (not set)"}
