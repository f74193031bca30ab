"""Decompression of uploads."""

import gzip

import pytest

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.gunzip import gunzip, read_claimed_size

RAW = b"profile " * 1000


def test_gzip_is_unpacked() -> None:
    assert gunzip(gzip.compress(RAW), len(RAW)) == RAW


def test_gzip_of_several_members_is_unpacked() -> None:
    assert gunzip(gzip.compress(RAW[:99]) + gzip.compress(RAW[99:]), len(RAW)) == RAW


def test_bytes_after_the_gzip_are_ignored() -> None:
    assert gunzip(gzip.compress(RAW) + b"\0\0 garbage", len(RAW)) == RAW


def test_uncompressed_bytes_are_returned_unchanged() -> None:
    assert gunzip(RAW, len(RAW)) == RAW


@pytest.mark.parametrize("body", [gzip.compress(RAW), RAW, gzip.compress(RAW[:-1]) * 2])
def test_output_over_the_limit_is_rejected_with_the_limit(body: bytes) -> None:
    with pytest.raises(TooLarge) as caught:
        gunzip(body, len(RAW) - 1)
    assert caught.value.limit == "FLAMEWATCH_MAX_PROFILE_BYTES"
    assert caught.value.allowed == len(RAW) - 1


def test_a_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    with pytest.raises(TooLarge):
        gunzip(bomb, 1000)


@pytest.mark.parametrize("body", [b"", gzip.compress(RAW)[:-9], b"\x1f\x8b\x08 no gzip at all"])
def test_broken_gzip_is_rejected(body: bytes) -> None:
    with pytest.raises(BadProfile):
        gunzip(body, 10**6)


def test_a_wrong_checksum_is_rejected() -> None:
    body = bytearray(gzip.compress(RAW))
    body[-6] ^= 1
    with pytest.raises(BadProfile, match="Invalid gzip"):
        gunzip(bytes(body), 10**6)


def test_raw_size_is_read_from_the_gzip_trailer() -> None:
    assert read_claimed_size(gzip.compress(RAW)) == len(RAW)
    assert read_claimed_size(RAW) == len(RAW)
    assert read_claimed_size(b"") == 0
