"""Legacy profiles are rejected with the command that converts them."""

import pytest

from profiles.engine.errors import BadProfile
from profiles.engine.pprof.decode import DecodeLimits, decode_profile

CPU_WORDS = (0, 3, 0, 10_000, 0, 1, 1, 0xDEAD)


@pytest.mark.parametrize(
    "data",
    [
        b"heap profile: 3: 4096 [5: 8192] @ heap/1048576\n3: 4096 [5: 8192] @ 0x1 0x2\n",
        b"heap profile:      1:      288 [     1:      288] @ growthz\n",
        b"--- contention:\ncycles/second=3000000000\n100 2 @ 0x1\n",
        b"--- contentionz 1 ---\ncycles/second = 1\n",
        b"--- mutex:\ncycles/second=2\n",
        b"--- heapz 1 ---\nformat = java\n",
        b"--- threadz 1 ---\n\n--- Thread 7 (name: main) stack: ---\n",
        b"goroutine profile: total 12\n3 @ 0x1 0x2\n",
        b"threadcreate profile: total 9\n",
        b"".join(word.to_bytes(8, "little") for word in CPU_WORDS),
        b"".join(word.to_bytes(4, "big") for word in CPU_WORDS),
    ],
)
def test_legacy_profile_is_rejected_with_the_command_that_converts_it(data: bytes) -> None:
    with pytest.raises(
        BadProfile, match=r"Legacy profile format.* go tool pprof -proto FILE > out\.pb\.gz"
    ):
        decode_profile(data, "HEAP", DecodeLimits())


def test_other_bytes_are_no_legacy_profile() -> None:
    with pytest.raises(BadProfile) as raised:
        decode_profile(b"hello, world", "CPU", DecodeLimits())
    assert "legacy" not in raised.value.reason
