import pytest

from flamewatch.transport import durations


@pytest.mark.parametrize(
    ("text", "seconds"), [("10s", 10), ("0.250s", 0.25), ("3.000000001s", 3.000000001), ("0s", 0)]
)
def test_protobuf_durations_are_parsed(text: str, seconds: float) -> None:
    assert durations.parse(text) == seconds


@pytest.mark.parametrize(
    "value", ["10", "-1s", "1e9s", "s", "١s", "", None, 10, ["1s"], "9" * 13 + "s"]
)
def test_other_values_are_parsed_as_none(value: object) -> None:
    assert durations.parse(value) is None


@pytest.mark.parametrize(("seconds", "text"), [(10, "10s"), (0.25, "0.250s"), (1.9999, "2s")])
def test_durations_are_formatted(seconds: float, text: str) -> None:
    assert durations.text(seconds) == text
