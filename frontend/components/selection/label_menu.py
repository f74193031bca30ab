"""Menu of the labels that a selection has, of profiles and of samples."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from frontend.components.selection.picker import Item
from frontend.page_query import PageQuery
from frontend.text.display_names import label_name
from profiles.query import Grouping, GroupKind, OptionsResult

LabelMenu = list[tuple[str, list[Item]]]  # (name of a group, its labels)
_MOST_LABELS = 50  # labels of profiles in the menu


def label_menu(
    page_query: PageQuery,
    options: OptionsResult,
    sample_labels: Iterable[str],
    chosen: Grouping | None,
) -> LabelMenu:
    """Return the labels in groups: deployments, profiles, samples; the chosen one is among them.

    Profiles of a snapshot have become one tree, which has labels of samples only.
    """
    samples = [Grouping(GroupKind.SAMPLE, name) for name in sample_labels]
    labels = [Grouping(GroupKind.LABEL, name) for name in list(options.labels)[:_MOST_LABELS]]
    existing = (
        [Grouping(GroupKind.VERSION), Grouping(GroupKind.ZONE)] if not page_query.snapshot else []
    )
    if chosen and chosen not in (*existing, *labels, *samples):
        (labels if chosen.kind is GroupKind.LABEL else samples).append(chosen)
    groups = [
        (_("Deployment"), existing),
        (_("Labels of profiles"), labels),
        (_("Labels of samples"), samples),
    ]
    return [
        (name, [Item(each.parameter, label_name(each), each == chosen) for each in group])
        for name, group in groups
        if group
    ]
