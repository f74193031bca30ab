"""Blocks that are built in parts: equal to those of one part, in bounded memory."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.accumulators.merge import Merge
from profiles.engine.blocks import (
    BlockProfile,
    build_day,
    build_hour,
    open_day,
    open_hour,
    rows,
    sparse_values,
)
from profiles.engine.errors import TooLarge
from profiles.engine.pprof.decode import decode_profile
from tests.examples import examples
from tests.profiles.engine.blocks import reference_sums
from tests.profiles.engine.blocks.random_blocks import drawn_profiles, profile_of
from tests.profiles.engine.random_trees import ANY_TOTAL, meaning
from tests.profiles.pprofs import labelled_pprof

PROFILES = st.lists(drawn_profiles(), min_size=1, max_size=8)


@settings(max_examples=examples(60), deadline=None)
@given(PROFILES, st.integers(0, 8), st.integers(1, 8), st.booleans())
def test_blocks_built_in_parts_equal_those_of_one_part(
    profiles: list[BlockProfile], cut: int, limit: int, by_function: bool
) -> None:
    profiles = [replace(p, name_id=f"p{i}", samples=2) for i, p in enumerate(profiles)]
    with pytest.MonkeyPatch.context() as patched:
        # The package has functions of these names.
        patched.setattr(sys.modules[build_hour.__module__], "MAX_DECODED_NUMBERS", limit)
        patched.setattr(sys.modules[build_day.__module__], "MAX_SUMMED_NUMBERS", limit)
        patched.setattr(sparse_values, "MAX_CHUNK_NUMBERS", limit)
        patched.setattr(sparse_values, "CHUNK_ROWS", 1)
        patched.setattr(rows, "MAX_DECODED_BYTES", 64)
        hours = [open_hour(build_hour(part)) for part in (profiles[:cut], profiles[cut:])]
        whole = open_hour(build_hour(profiles[:cut], [(hours[1], None)]))
        day = open_day(build_day(hours))
    metrics = reference_sums.metrics_of(profiles)
    expected = reference_sums.merged(profiles, metrics, by_function)
    merge = Merge(metrics, by_function)
    merge.add_hour(whole, np.ones(whole.rows, bool))
    assert meaning(merge.tree()) == expected
    stored = Merge(metrics, by_function)
    stored.add_hour(whole)
    assert meaning(stored.tree()) == expected
    of_day = Merge(metrics, by_function)
    of_day.add_day(day)
    assert meaning(of_day.tree()) == expected
    assert list(zip(whole.profiles.time.tolist(), whole.identities.name_id, strict=True)) == sorted(
        (profile.time, profile.name_id) for profile in profiles
    )
    plain = open_day(build_day([open_hour(build_hour(profiles))]))
    assert (day.labelled is None) == (plain.labelled is None)
    assert day.has_variance == plain.has_variance


def test_too_many_values_with_sample_labels_are_rejected_for_several_profiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = labelled_pprof({("main;a", "GET"): 1, ("main;b", ""): 2})
    profile = profile_of(decode_profile(raw, "CPU", ANY_TOTAL).tree)
    monkeypatch.setattr(rows, "MAX_LABELLED_NUMBERS", 3)
    assert open_hour(build_hour([profile])).labelled is not None
    with pytest.raises(TooLarge, match="max_labelled_numbers"):
        build_hour([profile, profile])


MEMORY_PROGRAM = """
import resource
from dataclasses import replace
from profiles.engine.blocks import build_day, build_hour, open_hour
from tests.profiles.engine.blocks.random_blocks import profile_of
from tests.profiles.engine.random_trees import tree_of

def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

SAMPLES, PROFILES = 20_000, 200  # 4 million values of one metric: 48 MB for each copy
tree = tree_of({f"main;group{i % 150};function{i}": i + 1 for i in range(SAMPLES)})
profile = replace(profile_of(tree), samples=SAMPLES)
profiles = [replace(profile, time=profile.time + i, name_id=str(i)) for i in range(PROFILES)]
build_day([open_hour(build_hour(profiles[:2]))])
base = peak_bytes()
hour = build_hour(profiles)
day = build_day([open_hour(hour), open_hour(build_hour([], [(open_hour(hour), None)]))])
print(peak_bytes() - base)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_values_of_the_profiles() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY_PROGRAM], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 60e6
