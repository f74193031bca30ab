import gzip
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pprof_reader import ReadFrame, message, numbers, read

from flamewatch.capture.profile_types import METRICS, Metric, ProfileType
from flamewatch.capture.stacks import Frame
from flamewatch.profile import pprof, protobuf
from flamewatch.profile.pprof import Profile, Sample

CPU = Metric("cpu", "nanoseconds")
A = Frame("a", "/srv/a.py", 5, 1)
B = Frame("b", "/srv/b.py", 9, 7)


def profile(*samples: Sample, **changes: object) -> Profile:
    fields: dict[str, object] = {
        "metrics": METRICS[ProfileType.CPU],
        "samples": samples,
        "period_type": CPU,
        "period": 10_000_000,
        "time_ns": 1_700_000_000_000_000_000,
        "duration_ns": 10_000_000_000,
    }
    return Profile(**(fields | changes))  # type: ignore[arg-type]


def test_metrics_period_time_and_comments_are_encoded() -> None:
    found = read(pprof.encode(profile(comments=("flamewatch.samples=0",))))
    assert found.metrics == [("samples", "count"), ("cpu", "nanoseconds")]
    assert found.default_metric == "cpu"
    assert (found.period_type, found.period) == (("cpu", "nanoseconds"), 10_000_000)
    assert (found.time_ns, found.duration_ns) == (1_700_000_000_000_000_000, 10_000_000_000)
    assert found.comments == ["flamewatch.samples=0"]
    assert found.samples == []


def test_a_sample_is_its_stack_leaf_first_with_values_and_labels() -> None:
    labels = (("thread", "worker-1"), ("bytes", 512))
    [sample] = read(pprof.encode(profile(Sample((A, B), (3, 30), labels)))).samples
    assert sample.frames == (ReadFrame("a", "/srv/a.py", 5, 1), ReadFrame("b", "/srv/b.py", 9, 7))
    assert sample.values == (3, 30)
    assert sample.labels == {"thread": "worker-1", "bytes": 512}


def test_equal_stacks_are_one_sample_also_by_equal_frames() -> None:
    same = Frame(A.function, A.file, A.line, A.first_line)
    found = read(pprof.encode(profile(Sample((A, B), (1, 10)), Sample((same, B), (2, 25)))))
    assert [sample.values for sample in found.samples] == [(3, 35)]
    assert (found.locations, found.functions) == (2, 2)


def test_samples_with_different_labels_are_not_merged() -> None:
    samples = [Sample((A,), (1, 10), (("thread", name),)) for name in ("one", "two")]
    assert len(read(pprof.encode(profile(*samples))).samples) == 2


def test_two_lines_of_a_function_are_two_locations() -> None:
    other_line = Frame(A.function, A.file, A.line + 1, A.first_line)
    found = read(pprof.encode(profile(Sample((A,), (1, 10)), Sample((other_line,), (1, 10)))))
    assert (found.locations, found.functions) == (2, 1)


def test_empty_and_deeply_recursive_stacks_are_encoded() -> None:
    found = read(pprof.encode(profile(Sample((), (1, 10)), Sample((A,) * 5000, (1, 10)))))
    assert [len(sample.frames) for sample in found.samples] == [0, 5000]
    assert found.locations == 1


def test_any_characters_in_names_are_encoded() -> None:
    odd = Frame("é\udc80\x00", "/srv/☃.py", 1, 1)
    [sample] = read(pprof.encode(profile(Sample((odd,), (1, 10))))).samples
    assert sample.frames[0].function == "é?\x00"


def test_equal_profiles_give_equal_bytes() -> None:
    assert pprof.encode(profile(Sample((A,), (1, 2)))) == pprof.encode(
        profile(Sample((A,), (1, 2)))
    )


@settings(deadline=None)
@given(st.integers(0, 2**63 - 1))
def test_encoded_numbers_are_read_back_unchanged(value: int) -> None:
    assert numbers(message(protobuf.pack_numbers(1, [value, 1])), 1) == [value, 1]
    assert message(protobuf.number(1, value)).get(1, [0]) == [value]


def test_negative_numbers_are_twos_complement() -> None:
    assert numbers(message(protobuf.pack_numbers(1, [-1])), 1) == [2**64 - 1]


frames = st.builds(
    Frame,
    st.sampled_from("abcd"),
    st.sampled_from(["/x.py", "/y.py"]),
    st.integers(0, 3),
    st.just(1),
)
samples = st.builds(
    Sample,
    st.lists(frames, max_size=6).map(tuple),
    st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)),
    st.sampled_from([(), (("thread", "t"),)]),
)


@settings(deadline=None)
@given(st.lists(samples, max_size=20))
def test_totals_are_preserved_and_each_stack_is_written_once(given_samples: list[Sample]) -> None:
    found = read(pprof.encode(profile(*given_samples)))
    for at, metric in enumerate(("samples", "cpu")):
        assert found.total(metric) == sum(sample.values[at] for sample in given_samples)
    keys = [(sample.frames, tuple(sample.labels)) for sample in found.samples]
    assert len(set(keys)) == len(keys)
    assert len(keys) == len({(sample.frames, sample.labels) for sample in given_samples})


def test_profile_of_1000_stacks_is_below_120_kb() -> None:
    dice = random.Random(1)
    many = [Frame(f"package.module.function_{i}", f"/srv/m{i % 40}.py", i, i) for i in range(400)]
    stacks = [Sample(tuple(dice.choices(many, k=30)), (1, 10**7)) for _ in range(1000)]
    body = pprof.encode(profile(*stacks))
    assert len(gzip.decompress(body)) < 120_000
    assert len(read(body).samples) == pytest.approx(1000, abs=1)
