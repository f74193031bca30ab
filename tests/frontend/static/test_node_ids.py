"""Node ids derived by the browser, which equal the server's."""

import json
import random
from typing import Any

from tests.node import run_module
from tests.profiles.engine.calltree import reference_ids

SCRIPT = """
import { readFileSync } from 'node:fs';
import { getNodeId, nodeWithId } from './frontend/static/flame-graph/tree/ids.js';
import { readTree } from './frontend/static/flame-graph/tree/tree.js';
const trees = JSON.parse(readFileSync(0, 'utf8')).map(readTree);
const results = trees.map((tree) => {
  const ids = Array.from({ length: tree.n }, (_, node) => getNodeId(tree, node));
  return { ids, found: ids.map((id) => nodeWithId(tree, id)) };
});
console.log(JSON.stringify(results));
"""
TEXTS = ["", "main", "12345678", "exactly 16 bytes", "ünï·cödé 名前 🔥", "x" * 10_000, "\x07\x7f"]
FRAMES = [(name, file, line) for name in TEXTS for file in TEXTS[:4] for line in (0, 7, 2**31 - 1)]


def derived(*wires: dict[str, object]) -> list[dict[str, list[Any]]]:
    output = run_module(SCRIPT, stdin=json.dumps(wires))
    results: list[dict[str, list[Any]]] = json.loads(output)
    return results


def wire(depth: list[int], frame: list[int], root: str | None = None) -> dict[str, object]:
    return {
        "service": "s",
        "type": "CPU",
        "metric": {"name": "cpu", "unit": "nanoseconds"},
        "profiles": 1,
        "names": TEXTS,
        "files": TEXTS,
        "frames": {
            "name": [TEXTS.index(name) for name, _, _ in FRAMES],
            "file": [TEXTS.index(file) for _, file, _ in FRAMES],
            "line": [line for _, _, line in FRAMES],
        },
        "frame": frame,
        "depth": depth,
        "self": [1] * len(depth),
        "root": root,
        "folded": {"at": [0], "count": [3], "total": [1]},
    }


def random_tree(chance: random.Random, count: int) -> tuple[list[int], list[int], list[str]]:
    """Return depths, frames and the server's ids of a random tree."""
    depths, frames, ids = [], [], []
    path: list[tuple[str, str, int]] = []
    for _ in range(count):
        depth = chance.randint(0, len(path))
        frame = chance.randrange(len(FRAMES))
        path[depth:] = [FRAMES[frame]]
        depths.append(depth)
        frames.append(frame)
        ids.append(f"{reference_ids.node_id(path):016x}")
    return depths, frames, ids


def test_node_ids_of_the_browser_equal_those_of_the_server() -> None:
    depths, frames, ids = random_tree(random.Random(5), 300)
    (response,) = derived(wire(depths, frames))
    assert sorted(filter(None, response["ids"])) == sorted(ids)  # root and folded box have no id
    first = {id_: at for at, id_ in reversed(list(enumerate(response["ids"]))) if id_}
    assert response["found"] == [first.get(id_, 0) for id_ in response["ids"]]


def test_node_ids_below_a_root_continue_from_its_id() -> None:
    main, work = FRAMES[20], FRAMES[40]
    root, child = (
        f"{reference_ids.node_id(path):016x}" for path in ([main, work], [main, work, work])
    )
    (response,) = derived(wire([0, 1], [40, 40], root))
    assert response["ids"] == ["", root, child, ""]
    assert response["found"][:3] == [0, 1, 2]
