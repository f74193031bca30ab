"""String tables in one piece of memory behave like a list of strings."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profiles.engine.string_table import StringTable


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_any_strings_are_read_back_unchanged(strings: list[str]) -> None:
    texts = StringTable.from_strings(strings)
    assert list(texts) == [texts[i] for i in range(len(texts))] == strings


@given(st.lists(st.text(st.characters(max_codepoint=127))))
def test_ascii_strings_are_read_back_unchanged(strings: list[str]) -> None:
    texts = StringTable.from_strings(strings)
    assert list(texts) == [texts[i] for i in range(len(texts))] == strings


def test_string_cut_within_a_character_does_not_affect_others() -> None:
    whole = StringTable.from_strings(["a\u00e9", "b"])
    cut = StringTable(whole.data, whole.ends - np.array([1, 0]))
    assert list(cut) == [cut[0], cut[1]] == ["a\ufffd", "\ufffdb"]
