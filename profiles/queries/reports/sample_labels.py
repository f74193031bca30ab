"""Labels that samples have: names and values, for menus."""

from collections.abc import Iterable, Mapping

from profiles.engine.encoding.codec import read_numbers
from profiles.engine.errors import BadTree
from profiles.queries.context import QueryContext
from profiles.queries.plan import plan_query
from profiles.queries.saved_tree_input import read_saved_labels
from profiles.queries.scan_input import UNREADABLE, OpenedBlock, block_inputs
from profiles.queries.selection import SavedTree, Selection

HEAD_ROWS = 20  # newest profiles of the head whose labels are read
BLOCKS = 2  # newest blocks whose labels are read
MAX_NAMES = 50
MAX_LABEL_VALUES = 50  # of each name


def run_sample_labels(context: QueryContext, selection: Selection) -> Mapping[str, tuple[str, ...]]:
    """Return the names of sample labels with some of their values, all sorted, for a menu.

    Only the newest matching profiles are read, so labels and values that are rare may be missing.
    Profiles that cannot be read are skipped.
    """
    if isinstance(selection, SavedTree):
        return _menu(read_saved_labels(context, selection))
    found: set[tuple[str, str]] = set()
    with context.snapshot:
        plan = plan_query(context, selection)
        newest = plan.head.order_by("-time").values_list("tree", flat=True)[:HEAD_ROWS]
        for tree in newest if plan.has_head else ():
            try:
                sets = read_numbers(bytes(tree)).head["labels"]
            except (BadTree, KeyError):
                continue
            found.update((str(label[0]), str(label[1])) for labels in sets for label in labels)
        for each in block_inputs(context, plan.filter, plan.blocks[-BLOCKS:]):
            context.check()
            found |= _read_labels(each.opened)
    return _menu(found)


def _menu(found: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    values: dict[str, list[str]] = {}
    for name, value in sorted(found):
        if name and (name in values or len(values) < MAX_NAMES):
            values.setdefault(name, []).append(value)
    return {
        name: tuple(filter(None, allowed))[:MAX_LABEL_VALUES] for name, allowed in values.items()
    }


def _read_labels(opened: OpenedBlock) -> set[tuple[str, str]]:
    try:
        labelled = (opened.day if opened.row.is_day else opened.hour).labelled
    except UNREADABLE:
        return set()
    sets = labelled.label_sets if labelled else ()
    return {(label.key, label.value) for labels in sets for label in labels}
