import pytest

from flamewatch.transport import durations


@pytest.mark.parametrize(
    ("text", "seconds"), [("10s", 10), ("0.250s", 0.25), ("3.000000001s", 3.000000001), ("0s", 0)]
)
def test_it_reads_protobufs_durations(text: str, seconds: float) -> None:
    assert durations.parse(text) == seconds


@pytest.mark.parametrize(
    "value", ["10", "-1s", "1e9s", "s", "١s", "", None, 10, ["1s"], "9" * 13 + "s"]
)
def test_all_else_is_none(value: object) -> None:
    assert durations.parse(value) is None


@pytest.mark.parametrize(("seconds", "text"), [(10, "10s"), (0.25, "0.250s"), (1.9999, "2s")])
def test_it_writes_them(seconds: float, text: str) -> None:
    assert durations.text(seconds) == text
