"""Dictionary of a block: symbols and nodes shared by its profiles; see docs/reference/formats.md.

It holds two trees: the function tree in pre-order, and a line tree whose nodes are grouped by the
function node that they belong to. Merging by function never reads the lines.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.sections.container import Container
from profiles.engine.blocks.sections.decoded_columns import Arrays
from profiles.engine.blocks.sections.packed_columns import ANY, PackedColumnReader, pack
from profiles.engine.blocks.sparse_rows import groups_from_ends
from profiles.engine.calltree.forest import node_depths
from profiles.engine.encoding.columns import decode_preorder
from profiles.engine.string_table import StringTable

_NO_START_LINES = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True)
class BlockFunctions:
    """P distinct functions; `name` and `file` are indexes of the strings."""

    id: NDArray[np.uint64]  # [P]
    name: NDArray[np.int32]  # [P]
    file: NDArray[np.int32]  # [P]


@dataclass(frozen=True, slots=True)
class FunctionTree:
    """N nodes in pre-order; functions are numbered in order of first use."""

    parent: NDArray[np.int32]  # [N], -1 for roots
    function: NDArray[np.int32]  # [N]
    first_line: NDArray[np.int64]  # [N + 1]: node n has the line nodes first_line[n] to [n + 1]

    def node_of_line(self) -> NDArray[np.int32]:
        """Return the function node of each line node, int32 [L]."""
        return groups_from_ends(self.first_line[1:], int(self.first_line[-1]))


@dataclass(frozen=True, slots=True)
class LineTree:
    """L line nodes and F frames; nodes are ordered by their function node.

    The same line of a function is a separate frame for each mapping and each start line.
    """

    parent: NDArray[np.int32]  # [L], -1 for roots
    frame: NDArray[np.int32]  # [L]
    function: NDArray[np.int32]  # [F]
    line: NDArray[np.int32]  # [F]
    mapping: NDArray[np.int32]  # [F], index the strings
    start_line: NDArray[np.int32]  # [F], of the function; 0 if unknown


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Strings, functions and trees of a block."""

    strings: StringTable
    functions: BlockFunctions
    tree: FunctionTree
    lines: LineTree


def write_dictionary(dictionary: Dictionary) -> dict[str, bytes]:
    """Encode the sections `functions`, `tree`, `texts` and `lines`."""
    return {
        "functions": _write_functions(dictionary.functions, len(dictionary.strings)),
        "tree": _write_tree(dictionary.tree),
        "texts": _write_texts(dictionary.strings),
        "lines": _write_lines(dictionary.tree, dictionary.lines),
    }


def _write_functions(functions: BlockFunctions, strings: int) -> bytes:
    return pack({"strings": strings}, [functions.id, functions.name, functions.file])


def read_functions(container: Container) -> BlockFunctions:
    """Read the section `functions`."""

    def decode(columns: PackedColumnReader) -> Arrays:
        strings = int(columns.head["strings"])
        ids = columns.ids()
        return ids, columns.index(strings, len(ids)), columns.index(strings, len(ids))

    return BlockFunctions(*container.read("functions", decode).arrays)


def _write_texts(texts: StringTable) -> bytes:
    lengths = np.diff(texts.ends, prepend=0)
    return pack({}, [lengths, np.frombuffer(texts.data, np.uint8)])


def read_texts(container: Container) -> StringTable:
    """Read the section `texts`."""

    def decode(columns: PackedColumnReader) -> Arrays:
        ends = columns.starts()[1:]
        data = columns.data()
        if (int(ends[-1]) if len(ends) else 0) != len(data):
            raise ValueError("string lengths do not match the data")
        return np.frombuffer(data, np.uint8), ends

    data, ends = container.read("texts", decode).arrays
    return StringTable(data.data, ends)


def _write_tree(tree: FunctionTree) -> bytes:
    depth = _depths(tree.parent)
    ups = -np.diff(depth, prepend=-1) + 1
    met = np.maximum.accumulate(np.concatenate([[-1], tree.function]))[:-1] + 1
    counts = np.diff(tree.first_line)
    return pack({}, [ups, met - tree.function, counts])


def read_tree(container: Container, functions: int) -> tuple[FunctionTree, NDArray[np.int32]]:
    """Read the section `tree`, in which all of `functions` functions must occur.

    Return also the function node of each line node, int32 [L].
    """

    def decode(columns: PackedColumnReader) -> Arrays:
        ups = columns.index(ANY)
        refs = columns.index(ANY, len(ups))
        first_line = columns.starts()
        if len(first_line) != len(ups) + 1:
            raise ValueError("columns of a table differ in length")
        parent, function = decode_preorder(ups, refs, functions)
        tree = FunctionTree(parent, function, first_line)
        return parent, function, first_line, tree.node_of_line()

    *arrays, node_of_line = container.read("tree", decode).arrays
    return FunctionTree(*arrays), node_of_line


def _write_lines(tree: FunctionTree, lines: LineTree) -> bytes:
    node = tree.node_of_line()
    above = tree.parent[node]
    nested = np.flatnonzero(above >= 0)
    steps = np.zeros(len(node), np.int64)
    steps[nested] = lines.parent[nested] - tree.first_line[above[nested]]
    first_frame = _first_frames(lines.function, int(tree.function.max(initial=-1)) + 1)
    return pack(
        {},
        [
            np.diff(first_frame),
            lines.line,
            lines.mapping,
            steps,
            lines.frame - first_frame[tree.function[node]],
            lines.start_line if lines.start_line.any() else _NO_START_LINES,
        ],
    )


def _first_frames(function: NDArray[np.int32], functions: int) -> NDArray[np.int64]:
    """Return the first frame of each function, [P + 1]; frames are sorted by function."""
    return np.searchsorted(function, np.arange(functions + 1)).astype(np.int64)


def read_lines(
    container: Container, tree: FunctionTree, node_of_line: NDArray[np.int32], strings: int
) -> LineTree:
    """Read the section `lines`; `strings` is the number of strings."""

    def decode(columns: PackedColumnReader) -> Arrays:
        first_frame = columns.starts()
        function = groups_from_ends(first_frame[1:], int(first_frame[-1]))
        line = columns.index(ANY, len(function))
        mapping = columns.index(strings, len(function))
        parent, frame = _read_line_nodes(columns, tree, node_of_line, first_frame)
        # Blocks before version 3 lack the column; it is empty if all start lines are unknown.
        start_line = columns.index(ANY) if columns.has_more else _NO_START_LINES
        if not len(start_line):
            start_line = np.zeros(len(function), np.int32)
        if len(start_line) != len(function):
            raise ValueError("columns of a table differ in length")
        return parent, frame, function, line, mapping, start_line

    return LineTree(*container.read("lines", decode).arrays)


def _read_line_nodes(
    columns: PackedColumnReader,
    tree: FunctionTree,
    node: NDArray[np.int32],
    first_frame: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    steps, frame = columns.index(ANY, len(node)), columns.index(ANY, len(node))
    above, function = tree.parent[node], tree.function[node]
    nested = above >= 0
    parent = np.where(nested, tree.first_line[above] + steps, -1)
    if (parent >= tree.first_line[above + 1])[nested].any():
        raise ValueError("a line node has no parent")
    frame_index = first_frame[function] + frame
    if (frame_index >= first_frame[function + 1]).any():
        raise ValueError("a line node has no frame")
    return parent.astype(np.int32), frame_index.astype(np.int32)


def _depths(parent: NDArray[np.int32]) -> NDArray[np.int64]:
    return node_depths(parent).astype(np.int64)
