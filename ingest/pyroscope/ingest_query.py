"""Query parameters of `POST /ingest`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from endpoints.errors import BadField
from ingest.formats.pyroscope.counts import DEFAULT_SAMPLE_RATE, MAX_SAMPLE_RATE
from ingest.pyroscope.app_name import AppName, read_app_name

_NUMBER = re.compile(r"[0-9]{1,19}(\.[0-9]{1,9})?", re.ASCII)
# Unix times are seconds, milliseconds, microseconds or nanoseconds: the first unit in which the
# time is after March 1973.
_UNITS = ((10**17, 1), (10**14, 10**3), (10**11, 10**6), (10**8, 10**9))


class IngestFormat(StrEnum):
    PPROF = "pprof"
    FOLDED = "folded"
    LINES = "lines"
    TRIE = "trie"
    TREE = "tree"
    SPEEDSCOPE = "speedscope"
    JFR = "jfr"


_SYNONYMS = {"groups": IngestFormat.FOLDED, "collapsed": IngestFormat.FOLDED}
_OF_CONTENT_TYPE = {
    "binary/octet-stream+trie": IngestFormat.TRIE,
    "binary/octet-stream+tree": IngestFormat.TREE,
    "multipart/form-data": IngestFormat.PPROF,
}


@dataclass(frozen=True, slots=True)
class IngestQuery:
    app: AppName
    format: IngestFormat
    start_ns: int | None  # Unix time
    end_ns: int | None  # Unix time
    sample_rate: int  # Hz
    spy_name: str
    units: str
    aggregation: str

    @property
    def duration_ns(self) -> int | None:
        """Return the time from the start to the end; None unless it is positive."""
        if self.start_ns is None or self.end_ns is None or self.end_ns <= self.start_ns:
            return None
        return self.end_ns - self.start_ns


def read_ingest_query(query: Mapping[str, str], content_type: str) -> IngestQuery:
    """Read the parameters; `content_type` is that of the body, without parameters.

    Raise BadField for a parameter that cannot be used.
    """
    return IngestQuery(
        app=read_app_name(query.get("name", "")),
        format=_format(query.get("format", ""), content_type),
        start_ns=_time_ns(query, "from"),
        end_ns=_time_ns(query, "until"),
        sample_rate=_sample_rate(query.get("sampleRate", "")),
        spy_name=query.get("spyName", ""),
        units=query.get("units", ""),
        aggregation=query.get("aggregationType", ""),
    )


def _format(text: str, content_type: str) -> IngestFormat:
    if not text:
        return _OF_CONTENT_TYPE.get(content_type, IngestFormat.FOLDED)
    try:
        return _SYNONYMS.get(text) or IngestFormat(text)
    except ValueError:
        formats = ", ".join([*IngestFormat, *_SYNONYMS])
        raise BadField("format", f"is {text[:40]!r}; use one of {formats}") from None


def _time_ns(query: Mapping[str, str], name: str) -> int | None:
    text = query.get(name, "").strip()
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise BadField(name, f"is {text[:40]!r}; send a Unix time in seconds or nanoseconds")
    whole, _, fraction = text.partition(".")
    factor = next((factor for above, factor in _UNITS if int(whole) >= above), 10**9)
    return int(whole) * factor + int(fraction.ljust(9, "0") or 0) * factor // 10**9


def _sample_rate(text: str) -> int:
    if not text:
        return DEFAULT_SAMPLE_RATE
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise BadField("sampleRate", f"is {text[:40]!r}; send a whole number of Hz")
    if int(text) > MAX_SAMPLE_RATE:
        raise BadField("sampleRate", f"is {text}; the highest is {MAX_SAMPLE_RATE:,} Hz")
    return int(text) or DEFAULT_SAMPLE_RATE
