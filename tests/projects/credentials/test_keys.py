"""API keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.credentials import keys

KEY = keys.make("abcdefghij", "s" * 32)


def test_key_is_parsed_into_prefix_and_secret() -> None:
    assert keys.parse(KEY) == keys.KeyParts("abcdefghij", "s" * 32)


@given(st.integers(0, len(KEY) - 1), st.characters(codec="ascii", categories=["L", "N"]))
def test_key_with_a_typing_error_is_malformed(position: int, letter: str) -> None:
    typo = KEY[:position] + letter + KEY[position + 1 :]
    if typo != KEY:
        with pytest.raises(keys.MalformedKey):
            keys.parse(typo)


@given(st.text())
def test_any_other_text_is_a_malformed_key(text: str) -> None:
    with pytest.raises(keys.MalformedKey):
        keys.parse(text)


def test_nul_is_malformed_even_with_the_right_checksum() -> None:
    with pytest.raises(keys.MalformedKey):
        keys.parse(keys.make("abcdefghi\0", "s" * 32))


def test_only_the_secret_matches_its_hash() -> None:
    stored = keys.hash_secret("s" * 32)
    assert keys.matches("s" * 32, stored)
    assert not keys.matches("t" * 32, stored)
    assert "s" * 32 not in stored
