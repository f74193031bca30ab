"""Speedscope documents contain the tree's values and conform to the schema."""

import json
from typing import Any

from hypothesis import given, settings

from profiles.engine.calltree.tree import Tree
from profiles.engine.exports.speedscope import encode
from tests.examples import examples
from tests.profiles.engine.explicit_stacks import stacks_of
from tests.profiles.engine.pprof.oracle import Path
from tests.profiles.engine.random_trees import tree_of, trees
from tests.profiles.pprofs import EXAMPLE


def read(document: Any, metric: int) -> dict[Path, int]:
    frames = [
        (frame["name"], frame.get("file", ""), frame.get("line", 0))
        for frame in document["shared"]["frames"]
    ]
    profile = document["profiles"][metric]
    stacks = [tuple(frames[i] for i in stack) for stack in profile["samples"]]
    assert profile["endValue"] == sum(profile["weights"])
    assert len(set(stacks)) == len(stacks)
    return dict(zip(stacks, profile["weights"], strict=True))


@settings(max_examples=examples(150), deadline=None)
@given(trees())
def test_every_stack_of_every_metric_is_there(tree: Tree) -> None:
    document = json.loads(encode(tree))
    own = stacks_of(tree)[0]
    for metric in range(len(tree.metrics)):
        expected = {path: row[metric] for path, row in own.items() if row[metric]}
        assert read(document, metric) == expected


def test_documented_example_gives_this_document() -> None:
    document = json.loads(encode(tree_of(EXAMPLE), name="shop · CPU"))
    profile = document.pop("profiles")[0]
    assert document == {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "flamewatch",
        "name": "shop · CPU",
        "activeProfileIndex": 0,
        "shared": {
            "frames": [
                {"name": name, "file": "app.py", "line": 1}
                for name in ("main", "foo1", "bar", "foo2")
            ]
        },
    }
    assert profile == {
        "type": "sampled",
        "name": "cpu",
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": 9000,
        "samples": [[0], [0, 1], [0, 1, 2], [0, 3], [0, 3, 2]],
        "weights": [2000, 1500, 2500, 500, 2500],
    }
