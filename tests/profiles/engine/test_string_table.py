"""String tables in one piece of memory behave like a list of strings."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profiles.engine.string_table import StringTable


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_they_are_what_was_put_in(strings: list[str]) -> None:
    texts = StringTable.from_strings(strings)
    assert list(texts) == [texts[i] for i in range(len(texts))] == strings


@given(st.lists(st.text(st.characters(max_codepoint=127))))
def test_so_they_are_where_every_byte_is_a_character(strings: list[str]) -> None:
    texts = StringTable.from_strings(strings)
    assert list(texts) == [texts[i] for i in range(len(texts))] == strings


def test_a_text_that_is_cut_within_a_character_spoils_no_other() -> None:
    whole = StringTable.from_strings(["a\u00e9", "b"])
    cut = StringTable(whole.data, whole.ends - np.array([1, 0]))
    assert list(cut) == [cut[0], cut[1]] == ["a\ufffd", "\ufffdb"]
