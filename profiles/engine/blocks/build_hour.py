"""Builder of hour blocks, from stored profiles and from the profiles of other hour blocks."""

from collections.abc import Iterator, Sequence

from profiles.engine.blocks.builder import MAX_NODES, Builder
from profiles.engine.blocks.hour import KIND, HourBlock, open_hour
from profiles.engine.blocks.rows import (
    DecodedChunks,
    join_identities,
    join_labelled,
    limit_labelled,
    order_rows,
    rows_of_block,
    rows_of_profiles,
    write_values,
)
from profiles.engine.blocks.sections.container import COMPRESSION_LEVEL, SectionWriter
from profiles.engine.blocks.sections.dictionary import write_dictionary
from profiles.engine.blocks.sections.identities import write_identities
from profiles.engine.blocks.sections.packed_columns import pack
from profiles.engine.blocks.sections.profile_columns import (
    BlockProfile,
    join_profile_columns,
    write_profiles,
)
from profiles.engine.blocks.sections.sample_labels import write_labelled
from profiles.engine.blocks.sparse_values import Rows
from profiles.engine.encoding.compression import FAST_COMPRESSION_LEVEL

# Values of all metrics of stored profiles that are decoded at a time, by their number of samples.
MAX_DECODED_NUMBERS = 2**20


def build_hour(
    profiles: Sequence[BlockProfile],
    blocks: Sequence[tuple[HourBlock, Rows | None]] = (),
    max_nodes: int = MAX_NODES,
    compression_level: int = COMPRESSION_LEVEL,
) -> bytes:
    """Build an hour block of the profiles and of the marked profiles (None: all) of the blocks.

    The order of the input does not matter, and the block may cover any time range: the hours of a
    quiet day are smaller as one block than as several. Raise `BadTree` for a profile or block that
    cannot be read, and `TooLarge` (max_nodes, max_labelled_numbers) if the block would have more
    than `max_nodes` nodes, or too many values with sample labels. `compression_level` is zstd's:
    use compression.FAST_COMPRESSION_LEVEL for a block that will soon be compacted again.

    Memory is that of the result, of the nodes, and of some MAX_DECODED_NUMBERS values: more
    profiles become several blocks first, which are then merged.
    """
    parts = [*_split_profiles(profiles)]
    if len(parts) > 1:
        built = (build_hour(part, (), max_nodes, FAST_COMPRESSION_LEVEL) for part in parts)
        blocks = [*((open_hour(data), None) for data in built), *blocks]
        parts = [[]]
    return _merge(parts[0], blocks, max_nodes, compression_level)


def _split_profiles(profiles: Sequence[BlockProfile]) -> Iterator[Sequence[BlockProfile]]:
    """Yield all profiles, at least one list, or parts of them in order of time."""
    sizes = [profile.samples * len(profile.totals) for profile in profiles]
    if sum(sizes) <= MAX_DECODED_NUMBERS:
        yield profiles
        return
    part: list[BlockProfile] = []
    count = 0
    for profile in sorted(profiles, key=lambda each: (each.time, each.name_id)):
        size = profile.samples * len(profile.totals)
        if part and count + size > MAX_DECODED_NUMBERS:
            yield part
            part, count = [], 0
        part.append(profile)
        count += size
    yield part


def _merge(
    profiles: Sequence[BlockProfile],
    blocks: Sequence[tuple[HourBlock, Rows | None]],
    max_nodes: int,
    compression_level: int,
) -> bytes:
    builder, chunks = Builder(max_nodes), DecodedChunks()
    inputs = [rows_of_profiles(builder, profiles)]
    limit_labelled(inputs)
    for block, rows in blocks:
        inputs.append(rows_of_block(builder, block, rows, chunks))
        limit_labelled(inputs)
    dictionary, line_node = builder.finish()
    del builder
    order = order_rows(inputs)
    columns = join_profile_columns([each.profiles for each in inputs])
    writer, values = SectionWriter(compression_level), SectionWriter(compression_level)
    writer.add("profiles", write_profiles(columns.take(order)))
    writer.add_all(write_dictionary(dictionary))
    del dictionary
    cuts, sums = write_values(values, inputs, columns.metrics, order, line_node)
    for k, row in sums.by_metric.items():
        writer.add(f"sums.{k}", pack({}, [row]))
    labelled = join_labelled(inputs, columns.metrics, order, line_node)
    if len(labelled.row):
        writer.add("labels", write_labelled(labelled))
    writer.append(values)
    writer.add("identities", write_identities(join_identities(inputs, order)))
    head = {
        "metrics": [[*metric] for metric in columns.metrics],
        "profiles": len(columns),
        "rows": len(columns),
        "cuts": cuts,
    }
    return writer.encode(KIND, head)
