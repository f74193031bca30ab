"""API keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.credentials import keys

KEY = keys.make("abcdefghij", "s" * 32)


def test_a_key_parses_into_what_it_was_made_of() -> None:
    assert keys.parse(KEY) == keys.KeyParts("abcdefghij", "s" * 32)


@given(st.integers(0, len(KEY) - 1), st.characters(codec="ascii", categories=["L", "N"]))
def test_a_typing_error_is_noticed(position: int, letter: str) -> None:
    typo = KEY[:position] + letter + KEY[position + 1 :]
    if typo != KEY:
        with pytest.raises(keys.MalformedKey):
            keys.parse(typo)


@given(st.text())
def test_anything_else_is_malformed(text: str) -> None:
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
