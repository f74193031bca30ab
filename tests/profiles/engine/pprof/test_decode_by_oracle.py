"""The compiled decoder equals the slow reference; hostile bytes raise errors and nothing worse."""

from typing import Any

from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.engine.errors import BadProfile, TooLarge
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from tests.examples import examples
from tests.profiles.engine.pprof import oracle
from tests.profiles.engine.pprof.random_pprofs import messages

LIMITS = DecodeLimits(max_total=2**63 - 1)
TYPES = st.sampled_from(["CPU", "WALL", "HEAP"])


@settings(max_examples=examples(300), deadline=None)
@given(messages(), TYPES)
def test_decoder_equals_the_oracle(message: Any, profile_type: str) -> None:
    raw = message.SerializeToString()
    got = decode_profile(raw, profile_type, LIMITS)
    expected = oracle.digest(raw, profile_type)
    assert oracle.meaning_of(got.tree, got.totals, got.samples) == expected
    assert got.time_ns == message.time_nanos
    assert got.duration_ns == message.duration_nanos


@settings(max_examples=examples(100), deadline=None)
@given(messages())
def test_functions_without_ids_have_those_of_the_locations(message: Any) -> None:
    """Check what early profilers of .NET write: a function for each location, each with id 0."""
    del message.function[len(message.location) :]
    while len(message.function) < len(message.location):
        message.function.add(name=message.function[0].name if message.function else 0)
    for location in message.location:
        for line in location.line:
            line.function_id = location.id
    for function in message.function:
        function.id = 0
    raw = message.SerializeToString()
    got = decode_profile(raw, "CPU", LIMITS)
    assert oracle.meaning_of(got.tree, got.totals, got.samples) == oracle.digest(raw, "CPU")


@settings(max_examples=examples(300), deadline=None)
@given(messages(), st.data())
def test_truncated_and_changed_bytes_are_rejected_or_read(
    message: Any, data: st.DataObject
) -> None:
    raw = bytearray(message.SerializeToString())
    for _ in range(data.draw(st.integers(0, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])
    try:
        got = decode_profile(cut, "CPU", LIMITS)
    except (BadProfile, TooLarge):
        return
    assert len(got.tree.id) == len(got.tree.parent)
    assert sum(got.tree.self[0].tolist()) == got.totals[0]


@settings(max_examples=examples(200), deadline=None)
@given(messages(), st.data())
def test_changed_bytes_that_both_accept_give_equal_results(
    message: Any, data: st.DataObject
) -> None:
    raw = bytearray(message.SerializeToString())
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        got = decode_profile(bytes(raw), "CPU", LIMITS)
        expected = oracle.digest(bytes(raw), "CPU")
    except (BadProfile, TooLarge, DecodeError):
        return
    assert oracle.meaning_of(got.tree, got.totals, got.samples) == expected


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_rejected_or_decoded_like_by_the_oracle(raw: bytes) -> None:
    try:
        got = decode_profile(raw, "CPU", LIMITS)
    except (BadProfile, TooLarge):
        return
    assert oracle.meaning_of(got.tree, got.totals, got.samples) == oracle.digest(raw, "CPU")
