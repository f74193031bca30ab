"""Decoder of pprof profiles: bytes to a call tree, in the columns in which it is stored.

The loops over bytes are compiled (wire.pyx, symbols.pyx, samples.pyx); they check all bounds and
release the GIL. Invalid bytes raise `BadProfile` or `TooLarge`.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from profiles.engine.calltree.tree import LabelledSelf, Tree
from profiles.engine.encoding.stored_tree import StoredFrames, StoredTree, to_tree
from profiles.engine.errors import BadProfile
from profiles.engine.metrics import (
    Metric,
    canonical,
    find_default,
    is_dropped_when_zero,
    normalise_unit,
)
from profiles.engine.pprof.differences import difference_warnings, with_differences
from profiles.engine.pprof.gunzip import gunzip
from profiles.engine.pprof.header import convert_to_ns
from profiles.engine.pprof.limits import MAX_SAMPLE_TYPE_BYTES, DecodeLimits
from profiles.engine.pprof.sample_labels import read_label_sets
from profiles.engine.pprof.samples import SampleReader
from profiles.engine.pprof.symbols import ProfileStrings, SymbolTable
from profiles.engine.pprof.wire import ProfileFields, WireReader, comment_strings, varint_fields
from profiles.engine.string_table import StringTable

__all__ = ["DecodeLimits", "DecodedProfile", "decode_profile", "gunzip"]

MOST_COMMENTS = 64
LONGEST_COMMENT = 200  # characters; longer comments are truncated

_LEGACY_TEXT = re.compile(rb"heap profile:|[a-z]+ profile: total \d|--- ?[a-zA-Z]+")
_BYTE_ORDERS: tuple[Literal["little", "big"], ...] = ("little", "big")
# A gperftools CPU profile starts with the words 0, 3 and 0, then its period; words have 4 or 8
# bytes, in either byte order.
_LEGACY_BINARY = tuple(
    b"".join(word.to_bytes(size, order) for word in (0, 3, 0))
    for size in (4, 8)
    for order in _BYTE_ORDERS
)
_LEGACY_HEADER = 200  # bytes
_REPLACED_IDS = (
    "Every function has the id 0, which is reserved: each was read as the one with the id of the "
    "location in the same position, as early profilers of .NET mean it."
)


@dataclass(frozen=True)
class DecodedProfile:
    """Decoded profile: call tree, times, totals and comments."""

    columns: StoredTree
    samples: int
    time_ns: int  # since 1970; 0 if unknown
    duration_ns: int  # 0 if unknown
    default: int  # index of the metric that is shown by default
    totals: tuple[int, ...]  # [K], of the metrics
    comments: tuple[str, ...] = ()  # the first MOST_COMMENTS
    warnings: tuple[str, ...] = ()  # sentences about data that was left out or repaired

    @property
    def weight(self) -> int:
        """Return the total of the default metric."""
        return self.totals[self.default]

    @cached_property
    def tree(self) -> Tree:
        """Return the call tree, converted from the columns on first use."""
        return to_tree(self.columns)


def decode_profile(
    raw: bytes, profile_type: str, limits: DecodeLimits, only: Collection[str] = ()
) -> DecodedProfile:
    """Decode an uncompressed pprof profile. Raise `BadProfile` or `TooLarge` if it is unusable.

    `only` has the names of the sample types to read, as the profile writes them; all if it is
    empty. Samples without a value of these are left out.
    """
    _reject_legacy(raw)
    reader = WireReader(raw)
    fields = ProfileFields(reader, limits)
    strings = ProfileStrings(reader, fields.ranges["strings"])
    _check_sample_types(reader, fields, strings)
    symbols = SymbolTable(reader, strings, fields.ranges, limits)
    metrics, factors, named = _metrics(reader, profile_type, fields, symbols, only)
    unread = {k for k in range(len(metrics)) if not factors[k]}
    samples = fields.ranges["samples"]
    stacks = _stacks(reader, symbols, factors, limits, samples)
    below = stacks.first_negatives()
    below[[*unread]] = 0
    differences = with_differences(profile_type, metrics, below, unread)
    if differences:
        factors[[*differences]] = 0
        stacks = _stacks(reader, symbols, factors, limits, samples)
    totals = stacks.totals()
    stored = _select_metrics(profile_type, metrics, totals, differences | unread)
    warnings = difference_warnings(metrics, differences, below)
    if stacks.trace_links:
        warnings += (
            f"Sample labels with ids of traces, spans or profiles were left out: "
            f"{stacks.trace_links:,}. Each value would have samples of its own.",
        )
    if symbols.has_replaced_function_ids:
        warnings += (_REPLACED_IDS,)
    metrics = tuple(metrics[k] for k in stored)
    labelled = _read_labelled(reader, samples, symbols, stacks, stored, limits)
    return DecodedProfile(
        columns=_columns(symbols, stacks, metrics, stored, labelled),
        samples=len(samples),
        time_ns=convert_to_ns(fields.scalars["time"]),
        duration_ns=max(0, fields.scalars["duration"]),
        default=find_default(profile_type, metrics, named),
        totals=tuple(totals[stored].tolist()),
        comments=_comments(reader, symbols) if fields.has_comments else (),
        warnings=warnings,
    )


def _reject_legacy(raw: bytes) -> None:
    """Raise `BadProfile`, with the command that converts it, if this is a legacy profile.

    Legacy formats are those of gperftools and Java, which `go tool pprof` converts.
    """
    head = raw[:_LEGACY_HEADER]
    if _LEGACY_TEXT.match(head) or head.startswith(_LEGACY_BINARY):
        raise BadProfile(
            "Legacy profile format: only pprof's protocol buffers are supported. "
            "Convert the file with: go tool pprof -proto FILE > out.pb.gz"
        )


def _check_sample_types(reader: WireReader, fields: ProfileFields, strings: ProfileStrings) -> None:
    """Raise `BadProfile` for names and units that are too long, not UTF-8, or contain NUL.

    They become text in PostgreSQL, which must store them unchanged.
    """
    for _, name, unit in varint_fields(reader, fields.ranges["sample_types"], 3).tolist():
        for number in (name, unit):
            text = strings.text(number)
            if len(text) > MAX_SAMPLE_TYPE_BYTES or len(text.encode()) > MAX_SAMPLE_TYPE_BYTES:
                raise BadProfile(
                    f"The name or unit of a sample type is longer than {MAX_SAMPLE_TYPE_BYTES}"
                    f" bytes: {text[:80]!r}…"
                )
            if strings.is_changed(number):
                raise BadProfile(
                    f"The name or unit of a sample type is not UTF-8 or contains NUL: {text!r}."
                )


def _stacks(
    reader: WireReader,
    symbols: SymbolTable,
    factors: NDArray[np.int64],
    limits: DecodeLimits,
    samples: NDArray[np.intp],
) -> SampleReader:
    stacks = SampleReader(reader, symbols, factors, limits, len(samples))
    stacks.read(samples)
    return stacks


def _comments(reader: WireReader, symbols: SymbolTable) -> tuple[str, ...]:
    texts = (symbols.strings.text(number) for number in comment_strings(reader, MOST_COMMENTS))
    return tuple(text[:LONGEST_COMMENT] for text in texts)


def _metrics(
    reader: WireReader,
    profile_type: str,
    fields: ProfileFields,
    symbols: SymbolTable,
    only: Collection[str],
) -> tuple[tuple[Metric, ...], NDArray[np.int64], str]:
    """Return the metrics of the sample types, their values' factors, and the default's name.

    The factor of a metric that is not one of `only` is 0.
    """
    named = symbols.strings.text(fields.scalars["default_type"] & (2**64 - 1))
    factors: dict[Metric, int] = {}
    for _, name, unit in varint_fields(reader, fields.ranges["sample_types"], 3).tolist():
        normal, factor = normalise_unit(symbols.strings.text(unit))
        metric = Metric(symbols.strings.text(name), normal)
        if metric in factors:
            raise BadProfile(f"Duplicate sample type: {metric.name} in {metric.unit}.")
        factors[metric] = factor if not only or metric.name in only else 0
    if not factors:
        raise BadProfile("Not a pprof profile: no sample types.")
    if not any(factors.values()):
        raise BadProfile(f"The profile has none of the sample types {', '.join(sorted(only))}.")
    metrics = canonical(profile_type, tuple(factors))
    shown = [new.name for met, new in zip(factors, metrics, strict=True) if met.name == named]
    return metrics, np.array(list(factors.values()), np.int64), shown[-1] if shown else named


def _select_metrics(
    profile_type: str,
    metrics: tuple[Metric, ...],
    totals: NDArray[np.int64],
    left_out: Collection[int],
) -> list[int]:
    """Return the indexes of the metrics to store.

    Those of `left_out` are not. Empty metrics are left out if dropped_when_zero says so, unless no
    metric would remain.
    """
    usable = [k for k in range(len(metrics)) if k not in left_out]
    full = [k for k in usable if totals[k] or not is_dropped_when_zero(profile_type, metrics[k])]
    return full or usable


def _columns(
    symbols: SymbolTable,
    stacks: SampleReader,
    metrics: tuple[Metric, ...],
    stored: list[int],
    labelled: LabelledSelf | None,
) -> StoredTree:
    parent, frame = stacks.nodes.table()
    node, values = stacks.nodes.values(np.array(stored, np.int64))
    text, ends, ids, name, file, function, line, mapping, start = symbols.used_frames(frame)
    return StoredTree(
        metrics,
        StoredFrames(ids, name, file, function, line, mapping, start),
        parent,
        frame,
        node,
        values,
        labelled,
        lambda: StringTable(text, ends),
    )


def _read_labelled(
    reader: WireReader,
    samples: NDArray[np.intp],
    symbols: SymbolTable,
    stacks: SampleReader,
    stored: list[int],
    limits: DecodeLimits,
) -> LabelledSelf | None:
    if stacks.labelled is None or stacks.label_sets is None or stacks.marks is None:
        return None
    keys, values = stacks.labelled.table()
    first = samples[stacks.label_sets.table()[1][0]]
    return LabelledSelf(
        label_sets=read_label_sets(reader, first, symbols.strings, limits, stacks.marks),
        node=(keys >> np.uint64(32)).astype(np.int32),
        label_set=(keys & np.uint64(2**32 - 1)).astype(np.int32),
        values=values[stored],
    )
