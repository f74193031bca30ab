"""Human-readable amounts."""

import pytest

from common.amounts import bytes_text, parse_amount, wait_text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1500, "1.5 kB"),
        (16 * 2**20, "16 MiB"),
        (20 * 10**9, "20 GB"),
        (3 * 2**30, "3 GiB"),
        (12_345_678, "12.3 MB"),
        (2 * 10**12 + 1, "2,000.0 GB"),
    ],
)
def test_bytes_are_in_the_unit_that_fits(amount: int, text: str) -> None:
    assert bytes_text(amount) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "1 s"), (119, "119 s"), (120, "2 min"), (3600, "60 min"), (7261, "2 h 2 min")],
)
def test_waits_are_rounded_up(seconds: float, text: str) -> None:
    assert wait_text(seconds) == text


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("60,000", 60_000),
        (" 40 GB ", 40 * 10**9),
        ("1.5tb", 1_500 * 10**9),
        ("16 MiB", 16 * 2**20),
        ("0", 0),
        ("1.5", None),
        ("-1", None),
        ("40 XB", None),
        ("", None),
        ("9" * 19, None),
    ],
)
def test_amount_is_parsed_with_its_unit(text: str, amount: int | None) -> None:
    assert parse_amount(text) == amount
