"""Samples of other profilers, and imported profiles as sums of their stacks."""

from pathlib import Path

from ingest.formats.imported_profile import ImportedProfile
from profiles.engine.calltree.stacks import list_stacks
from profiles.engine.pprof.decode import DecodedProfile, DecodeLimits, decode_profile

SAMPLES = Path(__file__).parent / "samples"


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def decoded(profile: ImportedProfile) -> DecodedProfile:
    return decode_profile(profile.pprof, profile.type, DecodeLimits())


def totals(profile: ImportedProfile) -> dict[str, int]:
    """Return the totals of the profile by the names of its metrics."""
    found = decoded(profile)
    names = [metric.name for metric in found.tree.metrics]
    return dict(zip(names, found.totals, strict=True))


def stacks(profile: ImportedProfile, metric: int = -1) -> dict[str, int]:
    """Return the values of stacks, written as `root;…;leaf`, of one metric (the last one)."""
    tree = decoded(profile).tree
    names = [tree.frames.strings[name] for name in tree.frames.name.tolist()]
    sums: dict[str, int] = {}
    for frames, value in list_stacks(tree, metric % len(tree.metrics)):
        stack = ";".join(names[frame] for frame in frames)
        sums[stack] = sums.get(stack, 0) + value
    return sums


def frames(profile: ImportedProfile) -> set[tuple[str, str, int]]:
    """Return the names, files and lines of all frames."""
    tree = decoded(profile).tree
    text = tree.frames.strings
    columns = (tree.frames.name, tree.frames.file, tree.frames.line)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(text[name], text[file], line) for name, file, line in rows}


def labels(profile: ImportedProfile) -> set[tuple[str, str]]:
    """Return the labels of all samples."""
    labelled = decoded(profile).tree.labelled
    sets = labelled.label_sets if labelled else ()
    return {(label.key, label.value) for each in sets for label in each}
