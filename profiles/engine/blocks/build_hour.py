"""Build an hour block, from profiles as they are stored and from what other hour blocks hold."""

from collections.abc import Sequence

import numpy as np

from profiles.engine.blocks.builder import MAX_NODES, Builder
from profiles.engine.blocks.hour import KIND, HourBlock
from profiles.engine.blocks.rows import all_rows, in_order, rows_of_block, rows_of_profiles
from profiles.engine.blocks.sections.container import LEVEL, write
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
    level: int = LEVEL,
) -> bytes:
    """A block of the profiles, and of those of the blocks that their masks say (None: all).

    The order in which they come does not matter, and any span of time is possible: the hours of
    a quiet day together are one block that is smaller than they were. BadTree for a profile or
    block that cannot be read, TooLarge (max_nodes) if they have too many nodes for one block.
    `level` is zstd's: compression.FAST for a block that is soon built into another.
    """
    builder = Builder(max_nodes)
    parts = [
        rows_of_profiles(builder, profiles),
        *(rows_of_block(builder, block, rows) for block, rows in blocks),
    ]
    dictionary, place = builder.finish()
    rows = in_order(all_rows(parts), place)
    starts = np.cumsum(np.concatenate([np.zeros(1, np.int64), rows.lengths]))
    cells = SparseValues(starts, rows.node, rows.values)
    cuts, of_cells = write_sparse_values(cells, "cells")
    sums = safe_sums(cells, len(place))
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
        **of_cells,
        "identities": write_identities(rows.identities),
    }
    return write(KIND, head, sections, level)
