"""Builder of hour blocks, from stored profiles and from the profiles of other hour blocks."""

from collections.abc import Sequence

import numpy as np

from profiles.engine.blocks.builder import MAX_NODES, Builder
from profiles.engine.blocks.hour import KIND, HourBlock
from profiles.engine.blocks.rows import all_rows, rows_of_block, rows_of_profiles, sort_rows
from profiles.engine.blocks.sections.container import COMPRESSION_LEVEL, write
from profiles.engine.blocks.sections.dictionary import write_dictionary
from profiles.engine.blocks.sections.identities import write_identities
from profiles.engine.blocks.sections.packed_columns import pack
from profiles.engine.blocks.sections.profile_columns import BlockProfile, write_profiles
from profiles.engine.blocks.sections.sample_labels import write_labelled
from profiles.engine.blocks.sparse_values import Rows, SparseValues, safe_sums, write_sparse_values


def build_hour(
    profiles: Sequence[BlockProfile],
    blocks: Sequence[tuple[HourBlock, Rows | None]] = (),
    max_nodes: int = MAX_NODES,
    compression_level: int = COMPRESSION_LEVEL,
) -> bytes:
    """Build an hour block of the profiles and of the marked profiles (None: all) of the blocks.

    The order of the input does not matter, and the block may cover any time range: the hours of a
    quiet day are smaller as one block than as several. Raise `BadTree` for a profile or block that
    cannot be read, and `TooLarge` (max_nodes) if the block would have more than `max_nodes` nodes.
    `compression_level` is zstd's: use compression.FAST_COMPRESSION_LEVEL for a block that will soon
    be compacted again.
    """
    builder = Builder(max_nodes)
    parts = [
        rows_of_profiles(builder, profiles),
        *(rows_of_block(builder, block, rows) for block, rows in blocks),
    ]
    dictionary, line_node = builder.finish()
    rows = sort_rows(all_rows(parts), line_node)
    starts = np.cumsum(np.concatenate([np.zeros(1, np.int64), rows.lengths]))
    sparse_values = SparseValues(starts, rows.node, rows.values)
    cuts, value_sections = write_sparse_values(sparse_values, "cells")
    sums = safe_sums(sparse_values, len(line_node))
    head = {
        "metrics": [[*metric] for metric in rows.profiles.metrics],
        "profiles": len(rows.profiles),
        "rows": len(rows.profiles),
        "cuts": cuts,
    }
    sections = {
        "profiles": write_profiles(rows.profiles),
        **write_dictionary(dictionary),
        **{f"sums.{k}": pack({}, [row]) for k, row in sums.items()},
        **({"labels": write_labelled(rows.labelled)} if len(rows.labelled.row) else {}),
        **value_sections,
        "identities": write_identities(rows.identities),
    }
    return write(KIND, head, sections, compression_level)
