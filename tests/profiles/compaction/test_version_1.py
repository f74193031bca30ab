"""Rows and blocks of version 1 are read and compacted together with those of today.

The bytes are those of tests/profiles/engine/encoding/version_1/, made before version 2.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from profiles.compaction.build import new_hour_block
from profiles.compaction.compactor import Compactor
from profiles.compaction.plan import Span
from profiles.compaction.replace import Replacement, replace_sources
from profiles.engine.blocks import open_hour
from profiles.models import Block, BlockLevel, Profile, Resolution
from profiles.query import ProfileSelection, View, run_tree
from profiles.storage.blob_store import get_location, read
from profiles.storage.insert import insert
from projects.models import Deployment, Project
from projects.profile_types import ProfileType
from tests.profiles import rows
from tests.profiles.compaction.unlimited_retention import sum_days
from tests.profiles.contexts import query_context
from tests.profiles.engine.encoding.native_profile import BUILD_ID, native_profile

pytestmark = pytest.mark.django_db
FILES = Path(__file__).parents[1] / "engine" / "encoding" / "version_1"
HOUR = datetime.fromtimestamp(1_800_000_000, UTC)  # of the profile in hour.bin
LATER = max(HOUR, datetime.now(UTC)) + timedelta(days=3)
DAY = timedelta(days=1)
BUILD = f"[build-id {BUILD_ID}]"
# Self values in nanoseconds by function and file. Both versions have the same symbolised functions,
# and the same addresses where no build id is known.
SHARED = {("foo_work", "foo.c"): 2, ("app+0x777", ""): 2000, ("0x99", ""): 20000}
OLD_ADDRESSES = {("libfoo.so.1+0x1234", ""): 10, ("libfoo.so.1+0x5678", ""): 100}
NEW_ADDRESSES = {("libfoo.so.1+0x1234", BUILD): 10, ("libfoo.so.1+0x5678", BUILD): 100}


@pytest.fixture
def selection(project: Project) -> ProfileSelection:
    """Return the selection of the day of the profile in hour.bin."""
    start = HOUR.replace(hour=0)
    return ProfileSelection(project.pk, "shop", ProfileType.CPU, start, start + DAY)


def store_new(shop: Deployment, time: datetime) -> None:
    assert insert([replace(rows.new_of(shop, native_profile()), time=time)]) == [True]


def store_old_row(shop: Deployment, time: datetime) -> None:
    new = rows.new_of(shop, native_profile())
    content = replace(new.content, tree=(FILES / "tree.bin").read_bytes())
    assert insert([replace(new, content=content, time=time)]) == [True]


def store_old_block(shop: Deployment) -> Block:
    span = Span(shop.service, ProfileType.CPU, HOUR, HOUR + timedelta(hours=1))
    counts = {HOUR.date().isoformat(): 1}
    data = (FILES / "hour.bin").read_bytes()
    new = new_hour_block(BlockLevel.LEVEL_1, span, data, counts)
    replace_sources(shop.project_id, [Replacement(new=[new])])
    block = Block.objects.get()
    return block


def assert_both_versions_are_summed(selection: ProfileSelection) -> None:
    """Check the self values of all functions, and that no two nodes have the same stack."""
    result = run_tree(query_context(selection.project), selection, View())
    tree = result.tree
    strings = tree.frames.strings
    found: dict[tuple[str, str], int] = {}
    for node, value in enumerate(tree.self[0].tolist()):
        frame = tree.frame[node]
        if value:
            key = strings[tree.frames.name[frame]], strings[tree.frames.file[frame]]
            assert key not in found
            found[key] = value
    assert found == SHARED | OLD_ADDRESSES | NEW_ADDRESSES
    assert len(set(tree.id.tolist())) == len(tree.id)
    assert result.coverage.profiles == 2
    assert not result.coverage.missing


def test_a_row_of_version_1_is_compacted_with_one_of_today(
    shop: Deployment, selection: ProfileSelection
) -> None:
    store_old_row(shop, HOUR)
    store_new(shop, HOUR + timedelta(minutes=1))
    assert_both_versions_are_summed(selection)
    assert Compactor(selection.project, LATER).build_level1() == 2
    assert not Profile.objects.exists()
    assert_both_versions_are_summed(selection)


@pytest.mark.parametrize("is_other_hour", [False, True])
def test_a_block_of_version_1_is_read_and_rolled_up_with_todays_profiles(
    is_other_hour: bool, shop: Deployment, selection: ProfileSelection
) -> None:
    block = store_old_block(shop)
    assert open_hour(read(get_location(block))).count == 1
    store_new(shop, HOUR + timedelta(minutes=5) + timedelta(hours=2) * is_other_hour)
    assert_both_versions_are_summed(selection)
    assert Compactor(selection.project, LATER).build_level1() == 1
    assert_both_versions_are_summed(selection)
    assert sum_days(selection.project, LATER)
    assert Block.objects.get(resolution=Resolution.DAY).profiles == 2
    assert_both_versions_are_summed(selection)
