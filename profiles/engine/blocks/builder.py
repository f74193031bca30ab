"""The dictionary of a block while it is built: trees of profiles and of other blocks go in."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from profiles.engine.blocks.dictionary import Dictionary, Functions, FunctionTree, LineTree
from profiles.engine.loops import Forest, Keys, follow, frame_ids, pair_ids, text_ids
from profiles.engine.texts import Texts

MAX_NODES = 16_000_000
LIMIT = "max_nodes"  # how it is called in TooLarge

_NO_NODES = np.zeros(0, np.int32)
_NO_VALUES = np.zeros((0, 0), np.int64)
_NO_STARTS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Nodes:
    """A tree with lines: of a profile, or of a block."""

    strings: Texts
    function_id: NDArray[np.uint64]  # [P]
    name: NDArray[np.int32]  # [P], index strings
    file: NDArray[np.int32]  # [P]
    function: NDArray[np.int32]  # [F]
    line: NDArray[np.int32]  # [F]
    mapping: NDArray[np.int32]  # [F], index strings
    parent: NDArray[np.int32]  # [N]
    frame: NDArray[np.int32]  # [N]


class Builder:
    """Enters nodes once each; frames differ by their mapping too."""

    def __init__(self, max_nodes: int = MAX_NODES) -> None:
        self._max_nodes = max_nodes
        self._forest = Forest(0, max_nodes, LIMIT)
        self._functions = Keys(max_nodes, LIMIT)
        self._strings: dict[str, int] = {}
        self._names: list[tuple[int, int]] = []  # by function: name, file
        self._frames: list[NDArray[np.int32]] = []  # (function, line, mapping), [3, new ones]

    def add(self, nodes: Nodes) -> NDArray[np.int32]:
        """The place of each node here, int32 [N]: good until `finish`, which says a new one."""
        functions = self._enter_functions(nodes)
        used = np.flatnonzero(np.bincount(nodes.mapping))
        texts = [nodes.strings[i] for i in used.tolist()]
        of_string = np.zeros(int(used.max(initial=-1)) + 1, np.uint64)
        of_string[used] = text_ids(texts)
        ids = frame_ids(nodes.function_id[nodes.function], nodes.line)
        rows, new = self._forest.enter_frames(pair_ids(ids, of_string[nodes.mapping]))
        if len(new):
            places = np.zeros(len(of_string), np.int32)
            places[used] = [self._string(text) for text in texts]
            table = [functions[nodes.function], nodes.line, places[nodes.mapping]]
            self._frames.append(np.array(table, np.int32)[:, new])
        return self._forest.add(nodes.parent, nodes.frame, rows, _NO_NODES, _NO_VALUES, _NO_NODES)

    def finish(self) -> tuple[Dictionary, NDArray[np.int32]]:
        """The dictionary, and where each place that `add` gave stands among its lines."""
        _, parent, frame, _ = self._forest.nodes.table()
        frames = np.concatenate([np.zeros((3, 0), np.int32), *self._frames], axis=1)
        tree, node = self._function_tree(parent, frame, frames[0])
        # By node; of one node as they came, and so every parent before its children.
        order = np.argsort(node, kind="stable")
        place = _inverse(order)
        kept, function = _by_first_use(tree.function)
        tree = FunctionTree(tree.parent, function, _ends(node, len(tree.parent)))
        frames[0] = _inverse(kept, len(self._names))[frames[0]]
        by_function = np.lexsort(frames[::-1])
        columns = frames[:, by_function]
        names = np.array(self._names, np.int32).reshape(-1, 2)[kept]
        strings, (name, file, mapping) = self._strings_of(names[:, 0], names[:, 1], columns[2])
        functions = Functions(self._functions.table()[kept], name, file)
        above = np.where(parent >= 0, place[parent], -1)[order].astype(np.int32)
        lines = LineTree(
            above, _inverse(by_function)[frame[order]], columns[0], columns[1], mapping
        )
        return Dictionary(strings, functions, tree, lines), place

    def _enter_functions(self, nodes: Nodes) -> NDArray[np.int32]:
        rows, new = self._functions.enter_all(nodes.function_id)
        for i in new.tolist():
            name, file = nodes.strings[nodes.name[i]], nodes.strings[nodes.file[i]]
            self._names.append((self._string(name), self._string(file)))
        return rows

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _function_tree(
        self, parent: NDArray[np.int32], frame: NDArray[np.int32], of_frame: NDArray[np.int32]
    ) -> tuple[FunctionTree, NDArray[np.int32]]:
        """The tree of functions in pre-order, and the node of each line node; lines to come."""
        grouped = Forest(0, self._max_nodes, LIMIT)
        ids = self._functions.table()
        grouped.enter_frames(frame_ids(ids, np.zeros(len(ids), np.int32)))
        node = grouped.add(parent, frame, of_frame, _NO_NODES, _NO_VALUES, _NO_NODES)
        _, above, function, _ = grouped.nodes.table()
        order = follow(above, np.arange(len(above)))
        place = _inverse(order)
        ordered = np.where(above >= 0, place[above], -1)[order].astype(np.int32)
        return FunctionTree(ordered, function[order], _NO_STARTS), place[node]

    def _strings_of(self, *columns: NDArray[np.int32]) -> tuple[Texts, list[NDArray[np.int32]]]:
        """The strings that the columns name, by first use, and the columns so numbered."""
        kept, index = _by_first_use(np.concatenate(columns))
        strings = list(self._strings)
        cuts = np.cumsum([len(column) for column in columns])[:-1]
        return Texts.of([strings[i] for i in kept.tolist()]), np.split(index, cuts)


def _by_first_use(index: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """What occurs in the index, in order of first use, and the index into that."""
    used, first, inverse = np.unique(index, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return used[order].astype(np.int64), _inverse(order)[inverse]


def _inverse(order: NDArray[np.int64], size: int | None = None) -> NDArray[np.int32]:
    """Where each number stands in the order; 0 for those that do not."""
    place = np.zeros(len(order) if size is None else size, np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place


def _ends(node: NDArray[np.int32], nodes: int) -> NDArray[np.int64]:
    """Where the lines of each node begin, and the last ones end: [nodes + 1]."""
    starts = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(node, minlength=nodes), out=starts[1:])
    return starts
