"""Labels beside a JFR recording."""

import pytest

from endpoints.errors import BadRequest
from ingest.pyroscope.jfr_labels import read_jfr_labels
from tests.ingest.pprof import field


def entry(number: int, key: int, value: int | bytes) -> bytes:
    return field(number, field(1, key) + field(2, value))


SNAPSHOT = (
    entry(2, 1, b"route")
    + entry(1, 7, entry(1, 1, 2) + entry(1, 3, 99))
    + entry(2, 2, b"/cart")
    + entry(2, 3, b"user")
    + entry(1, 8, b"")
)


def test_labels_are_read_by_context_id() -> None:
    assert read_jfr_labels(SNAPSHOT) == {7: {"route": "/cart"}, 8: {}}


def test_empty_snapshot_has_no_labels() -> None:
    assert read_jfr_labels(b"") == {}


@pytest.mark.parametrize("data", [SNAPSHOT[:-1], b"\xff" * 11, b"\x0b", b"\x09\x00"])
def test_malformed_bytes_are_rejected(data: bytes) -> None:
    with pytest.raises(BadRequest):
        read_jfr_labels(data)
