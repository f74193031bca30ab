"""Largest and strangest accepted profiles, from their bytes to the blocks of a day."""

from collections.abc import Callable
from datetime import datetime

import numpy as np
import pytest

from profiles.compaction.compactor import Compactor
from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import open_day, open_hour
from profiles.engine.calltree.preorder_columns import depths
from profiles.engine.encoding.codec import decode
from profiles.engine.metrics import Metric
from profiles.models import Block, Profile, Resolution
from profiles.storage.blob_store import get_location, read
from projects.models import Deployment, Project
from tests.profiles import rows
from tests.profiles.compaction.inventory import stock
from tests.profiles.pprofs import PprofBuilder, pprof

pytestmark = pytest.mark.django_db
CPU = Metric("cpu", "nanoseconds")
GREATEST = 2**61  # the sum of four exceeds 64 bits


def _built(change: Callable[[PprofBuilder], None]) -> bytes:
    builder = PprofBuilder()
    builder.message.sample_type.add(type=builder.string(CPU.name), unit=builder.string(CPU.unit))
    change(builder)
    return bytes(builder.message.SerializeToString())


def no_sample() -> bytes:
    return pprof({}, [CPU])


def deepest() -> bytes:
    return pprof({";".join(f"f{i}" for i in range(10_000)): 1}, [CPU])


def a_million_nodes() -> bytes:
    """Return a hundred stacks of ten thousand frames that diverge at the root."""

    def change(b: PprofBuilder) -> None:
        common = [b.frame(f"f{i}") for i in range(9_999)]
        for i in range(100):
            b.message.sample.add(location_id=[*common, b.frame(f"root{i}")], value=[i + 1])

    return _built(change)


def many_labels() -> bytes:
    def change(b: PprofBuilder) -> None:
        main = b.frame("main")
        for i in range(100_000):
            sample = b.message.sample.add(location_id=[main], value=[1])
            sample.label.add(key=b.string("request"), str=b.string(f"r{i}"))

    return _built(change)


def greatest() -> bytes:
    return pprof({"main;work": GREATEST}, [CPU])


@pytest.mark.slow
@pytest.mark.parametrize("made", [no_sample, deepest, a_million_nodes, many_labels, greatest])
def test_rollup_keeps_extreme_profiles_unchanged(
    made: Callable[[], bytes], project: Project, shop: Deployment, later: datetime
) -> None:
    new = rows.stored_raw(shop, made())
    before, came = stock(project), decode(new.content.tree)
    Compactor(project.pk, later).build_level1()
    Compactor(project.pk, later).build_level2()
    assert not Profile.objects.exists()
    assert stock(project) == before
    merge = Merge([CPU], True)
    merge.add_day(open_day(read(get_location(Block.objects.get(resolution=Resolution.DAY)))))
    tree = merge.tree()
    assert np.array_equal(np.sort(depths(tree.parent)), np.sort(depths(came.parent)))
    assert int(tree.self.sum()) == new.content.weight


def test_profiles_that_pass_64_bits_together_are_rolled_up_too(
    project: Project, shop: Deployment, later: datetime
) -> None:
    """Check profiles that are valid alone but whose sum exceeds 64 bits."""
    for minute in range(5):
        rows.stored_raw(shop, greatest(), minutes=minute)
    before = stock(project)
    Compactor(project.pk, later).build_level1()
    Compactor(project.pk, later).build_level2()
    hour = Block.objects.get(resolution=Resolution.PROFILE)
    assert not Profile.objects.exists()
    assert sum(before.values()) == 5
    assert open_hour(read(get_location(hour))).profiles.totals.tolist() == [[GREATEST] * 5]
