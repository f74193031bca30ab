"""Limits of importers: a file over one is rejected with the limit and its value."""

import json
from typing import cast

import pytest

from ingest.formats import json_document, pprof_builder, text_lines
from ingest.formats.folded import import_folded
from ingest.formats.jfr import chunk as jfr_chunk
from ingest.formats.jfr import importer
from ingest.formats.jfr.importer import import_jfr
from ingest.formats.speedscope import import_speedscope
from ingest.formats.work_budget import MAX_WORK, Work
from profiles.engine.errors import TooLarge
from tests.ingest.formats.imported import totals
from tests.ingest.formats.jfr.recordings import chunk, sample

SAMPLE = sample("jdk.ExecutionSample", 1, 1, 0)


@pytest.mark.parametrize("limit", ["MAX_FRAMES", "MAX_SAMPLES"])
def test_distinct_frames_and_samples_over_the_limit_are_rejected(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pprof_builder, limit, 2)
    [profile] = import_folded(b"a 1\nb 1\na 1\n")
    assert totals(profile) == {"samples": 3}
    with pytest.raises(TooLarge, match="allows 2 different"):
        import_folded(b"a 1\nb 1\nc 1\n")


def test_lines_over_the_limit_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cast("dict[Work, int]", MAX_WORK), Work.LINES, 2)
    assert import_folded(b"a 1\nb 1\n")
    with pytest.raises(TooLarge, match="allows 2 lines; this has 3"):
        import_folded(b"a 1\nb 1\nc 1\n")


def test_line_over_the_limit_is_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "MAX_LINE", 10)
    [profile] = import_folded(b"a 1\n" + b"b" * 20 + b" 1\n")
    assert totals(profile) == {"samples": 1}
    assert profile.warnings == ("Unreadable lines, which were left out: 1; the first is 2.",)


def test_json_over_the_byte_limit_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_document, "MAX_JSON_BYTES", 10)
    with pytest.raises(TooLarge, match="allows 10 bytes"):
        import_speedscope(json.dumps({"profiles": [1, 2, 3]}).encode())


def test_events_over_the_limit_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jfr_chunk, "MAX_EVENTS", 7)
    assert import_jfr(chunk(SAMPLE, SAMPLE))  # and its metadata
    with pytest.raises(TooLarge, match="allows 7 events; this has 8"):
        import_jfr(chunk(*[SAMPLE] * 2) + chunk(*[SAMPLE] * 2))


def test_samples_of_all_chunks_over_the_limit_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "MAX_SAMPLES", 3)
    assert import_jfr(chunk(SAMPLE, SAMPLE) + chunk(SAMPLE))
    with pytest.raises(TooLarge, match="FLAMEWATCH_MAX_SAMPLES"):
        import_jfr(chunk(SAMPLE, SAMPLE) + chunk(SAMPLE, SAMPLE))


def test_constants_and_metadata_over_the_limits_are_rejected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(jfr_chunk, "MAX_CONSTANTS", 5)
        with pytest.raises(TooLarge, match="FLAMEWATCH_MAX_SYMBOLS"):
            import_jfr(chunk(SAMPLE))
    monkeypatch.setattr(jfr_chunk, "MAX_METADATA", 100)
    with pytest.raises(TooLarge, match="metadata of a JFR recording allows 100 bytes"):
        import_jfr(chunk(SAMPLE))


def test_stack_over_the_depth_limit_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "MAX_DEPTH", 1)
    with pytest.raises(TooLarge, match="FLAMEWATCH_MAX_DEPTH"):
        import_jfr(chunk(SAMPLE))


def test_sum_beyond_64_bits_is_rejected() -> None:
    with pytest.raises(TooLarge, match="FLAMEWATCH_MAX_TOTAL"):
        import_folded(b"a 4000000000000000000\n" * 3)
