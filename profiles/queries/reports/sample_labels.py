"""Names of the labels that samples have."""

from profiles.engine.encoding.codec import numbers_of
from profiles.engine.errors import BadTree
from profiles.queries.context import QueryContext
from profiles.queries.plan import plan_query
from profiles.queries.scan_input import UNREADABLE, OpenedBlock, block_inputs
from profiles.queries.selection import Selection
from profiles.queries.stored_results import stored_sample_labels

HEAD_ROWS = 20  # newest profiles of the head whose labels are read
BLOCKS = 2  # newest blocks whose labels are read
MAX_NAMES = 50


def run_sample_labels(context: QueryContext, selection: Selection) -> tuple[str, ...]:
    """Return names of sample labels, sorted, for a menu.

    Only the newest matching profiles are read, so labels that are rare may be missing. Profiles
    that cannot be read are skipped.
    """
    if selection.snapshot:
        return tuple(sorted({*filter(None, stored_sample_labels(context, selection))})[:MAX_NAMES])
    names: set[str] = set()
    with context.snapshot:
        plan = plan_query(context, selection)
        newest = plan.head.order_by("-time").values_list("tree", flat=True)[:HEAD_ROWS]
        for tree in newest if plan.has_head else ():
            try:
                sets = numbers_of(bytes(tree)).head["labels"]
            except (BadTree, KeyError):
                continue
            names.update(str(label[0]) for labels in sets for label in labels)
        for each in block_inputs(context, plan.filter, plan.blocks[-BLOCKS:]):
            context.check()
            names |= _names_in(each.opened)
    return tuple(sorted(name for name in names if name)[:MAX_NAMES])


def _names_in(opened: OpenedBlock) -> set[str]:
    try:
        labelled = (opened.day if opened.row.is_day else opened.hour).labelled
    except UNREADABLE:
        return set()
    sets = labelled.label_sets if labelled else ()
    return {label.key for labels in sets for label in labels}
