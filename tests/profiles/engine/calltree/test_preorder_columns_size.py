"""Size of a large tree in the wire format."""

import gzip

import orjson

from profiles.engine.calltree.preorder_columns import to_columns
from tests.profiles.engine.grown_trees import grown


def test_hundred_thousand_nodes_take_at_most_200_kb() -> None:
    tree = grown(100_000)
    assert len(tree.parent) == 100_000
    assert len(gzip.compress(orjson.dumps(to_columns(tree)), 5)) <= 200_000
