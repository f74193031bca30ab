"""Encoding of label sets as bytes."""

import zlib

from flamewatch.labelling.encoding import LARGEST, decode, encode, extend_labels, make_label


def test_labels_survive_a_round_trip() -> None:
    labels = (("endpoint", "/pay"), ("tenant", "Ærø 𝄞"))
    assert decode(encode(labels)) == labels
    assert decode(encode(())) == ()
    assert decode(encode((("empty", ""),))) == (("empty", ""),)


def test_encoded_labels_begin_with_their_checksum() -> None:
    data = encode((("a", "b"),))
    assert int.from_bytes(data[:4], "little") == zlib.adler32(data[4:])


def test_encoded_labels_over_the_size_limit_are_cut() -> None:
    huge = tuple((f"name{n}" * 10, "€" * 200) for n in range(20))
    assert len(encode(huge)) <= LARGEST
    assert decode(encode(huge)) == huge[: len(decode(encode(huge)))] != ()


def test_names_and_values_are_text_of_bounded_length() -> None:
    assert make_label("tenant", 7) == ("tenant", "7")
    name, value = make_label("n" * 100, "v\0" * 500)
    assert (len(name), len(value)) == (64, 200)
    assert "\0" not in value
    assert value.endswith("…")


def test_later_labels_override_earlier_ones() -> None:
    outer = encode((("endpoint", "/"), ("tenant", "acme")))
    assert decode(extend_labels(outer, (("endpoint", "/pay"),))) == (
        ("endpoint", "/pay"),
        ("tenant", "acme"),
    )
    assert decode(extend_labels(b"", ())) == ()
