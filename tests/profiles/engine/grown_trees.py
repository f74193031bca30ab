"""Large trees of a realistic shape: changed copies of a captured profile, merged."""

import numpy as np

from profiles.engine.accumulators.merge import Merge
from profiles.engine.calltree.subtree import fold
from profiles.engine.calltree.tree import Frames, Tree
from profiles.engine.metrics import Metric
from profiles.engine.pprof.decode import DecodeLimits, decode_profile
from profiles.engine.pprof.gunzip import gunzip
from projects.profile_types import ProfileType
from tests.paths import SAMPLES

CPU = Metric("cpu", "nanoseconds")
_SAMPLE = SAMPLES / "go-cpu.pb.gz"
_RENAMED, _SILENT = 0.1, 0.3  # shares per copy: of the functions, of the nodes


def grown(nodes: int, seed: int = 1) -> Tree:
    """Return a tree by function, folded to `nodes` nodes, in nanoseconds of CPU."""
    rng = np.random.default_rng(seed)
    base = _base()
    copies = -(-nodes // len(base.parent)) * 2
    merge = Merge([CPU], by_function=True)
    for number in range(copies):
        merge.add_tree(_changed(base, number, rng) if number else base)
        if number % 8 == 7 and len(merge.tree().parent) >= nodes:
            break
    return fold(merge.tree(), nodes)[0]


def _base() -> Tree:
    raw = gunzip(_SAMPLE.read_bytes(), 2**27)
    merge = Merge([CPU], by_function=True)
    merge.add_tree(decode_profile(raw, ProfileType.CPU, DecodeLimits()).tree)
    return merge.tree()


def _changed(base: Tree, number: int, rng: np.random.Generator) -> Tree:
    """Return a copy with some functions renamed, some nodes set to zero, and all values changed."""
    frames, count = base.frames, len(base.frames.name)
    named = [frames.strings[i] for i in frames.name.tolist()]
    renamed = rng.random(count) < _RENAMED
    names = [f"{text}V{number}" if new else text for text, new in zip(named, renamed, strict=True)]
    files = [frames.strings[i] for i in frames.file.tolist()]
    index = np.arange(count, dtype=np.int32)
    values = base.self[0] * rng.uniform(0.5, 1.5, len(base.parent))
    values[rng.random(len(values)) < _SILENT] = 0
    return Tree(
        metrics=base.metrics,
        frames=Frames(
            (*names, *files), frames.id, index, index + count, frames.line, frames.mapping
        ),
        id=base.id,
        parent=base.parent,
        frame=base.frame,
        self=values.astype(np.int64)[None, :],
    )
