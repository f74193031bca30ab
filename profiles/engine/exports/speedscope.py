"""Export to the JSON file format of speedscope.app: one sampled profile per metric."""

from collections.abc import Iterator

import orjson

from profiles.engine.calltree.stacks import list_stacks
from profiles.engine.calltree.tree import Frames, Tree
from profiles.engine.cancellation import Check, never_cancel

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_UNITS = frozenset({"nanoseconds", "bytes"})  # units that speedscope formats itself


def encode(tree: Tree, name: str = "", active: int = 0, check: Check = never_cancel) -> bytes:
    """Encode the document; `name` is its title, `active` the metric that is shown first.

    Stacks are in the order of the flame graph, so that the time order view looks like it, too.
    """
    document = {
        "$schema": SCHEMA,
        "exporter": "flamewatch",
        "name": name,
        "activeProfileIndex": active,
        "shared": {"frames": list(_frames(tree.frames))},
        "profiles": [_profile(tree, metric, check) for metric in range(len(tree.metrics))],
    }
    return orjson.dumps(document)


def _frames(frames: Frames) -> Iterator[dict[str, str | int]]:
    columns = (frames.name, frames.file, frames.line)
    for name, file, line in zip(*(column.tolist() for column in columns), strict=True):
        frame: dict[str, str | int] = {"name": frames.strings[name]}
        if frames.strings[file]:
            frame["file"] = frames.strings[file]
        if line:
            frame["line"] = line
        yield frame


def _profile(tree: Tree, metric: int, check: Check) -> dict[str, object]:
    stacks = list(list_stacks(tree, metric, check))
    name, unit = tree.metrics[metric]
    return {
        "type": "sampled",
        "name": name,
        "unit": unit if unit in _UNITS else "none",
        "startValue": 0,
        "endValue": sum(value for _, value in stacks),
        "samples": [frames for frames, _ in stacks],
        "weights": [value for _, value in stacks],
    }
