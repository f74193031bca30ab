"""Table of the most expensive functions of a profile."""

from fakes import MAIN, WORK

from flamewatch.capture.profile_types import METRICS, Metric, ProfileType
from flamewatch.capture.stacks import Frame
from flamewatch.profile.pprof import Profile, Sample
from flamewatch.profile.top import table

HELPER = Frame("helper", "/srv/shop/orders.py", 50, 48)


def profile(*samples: Sample, kind: ProfileType = ProfileType.CPU) -> Profile:
    return Profile(METRICS[kind], samples, Metric("cpu", "nanoseconds"), 1, 0, 0)


def test_functions_are_sorted_by_self_value_with_units() -> None:
    found = table(
        profile(
            Sample((WORK, MAIN), (3, 30_000_000)),
            Sample((HELPER, WORK, MAIN), (7, 2_070_000_000)),
        )
    )
    assert [line.split() for line in found[1:]] == [
        ["2.07", "s", "98.6%", "2.07", "s", "98.6%", "helper"],
        ["30.0", "ms", "1.4%", "2.10", "s", "100.0%", "work"],
    ]


def test_a_recursive_function_counts_once() -> None:
    [_, line] = table(profile(Sample((WORK, WORK, WORK), (1, 10_000_000))))
    assert line.split() == ["10.0", "ms", "100.0%", "10.0", "ms", "100.0%", "work"]


def test_counts_have_no_unit() -> None:
    [_, line] = table(profile(Sample((WORK,), (3,)), kind=ProfileType.THREADS))
    assert line.split() == ["3", "100.0%", "3", "100.0%", "work"]


def test_table_is_cut_to_its_limit() -> None:
    many = [Sample((Frame(f"f{n}", "", 1, 1),), (1, n + 1)) for n in range(40)]
    found = table(profile(*many), shown=5)
    assert [line.split()[-1] for line in found[1:]] == ["f39", "f38", "f37", "f36", "f35"]


def test_empty_profile_has_the_text_no_samples() -> None:
    assert table(profile()) == ["No samples."]
