"""Random profiles for blocks."""

import itertools

from hypothesis import strategies as st

from profiles.engine.blocks import BlockProfile
from profiles.engine.calltree.tree import Tree
from profiles.engine.encoding.codec import encode
from tests.profiles.engine.random_trees import trees

_numbers = itertools.count()
NOON = 1_800_000_000_000_000  # µs


def profile_of(
    tree: Tree,
    *,
    time: int = NOON,
    deployment: int = 1,
    agent: int | None = None,
    labels: dict[str, str] | None = None,
) -> BlockProfile:
    totals = [(*metric, int(tree.self[k].sum())) for k, metric in enumerate(tree.metrics)]
    return BlockProfile(
        name_id=f"name-{next(_numbers)}",
        time=time,
        time_source="assigned",
        deployment=deployment,
        agent=agent,
        duration_ns=10**10,
        weight=totals[0][2],
        samples=len(tree.id),
        labels=labels or {},
        totals=totals,
        body_hash=bytes(16),
        tree=encode(tree),
    )


@st.composite
def drawn_profiles(draw: st.DrawFn) -> BlockProfile:
    return profile_of(
        draw(trees()),
        time=NOON + draw(st.integers(0, 3)) * 10**6,
        deployment=draw(st.integers(1, 3)),
        agent=draw(st.sampled_from([None, 5, 6])),
        labels=draw(st.sampled_from([{}, {"instance": "a"}, {"instance": "b", "x": "é"}])),
    )
