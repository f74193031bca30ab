"""Public id of a selection's project."""

from common.bounded_cache import BoundedCache
from profiles.queries.selection import Selection
from projects.models import Project

_ids: BoundedCache[int, str] = BoundedCache(size=10_000)  # no expiry: a project's id never changes


def project_id_of(selection: Selection) -> str:
    known = _ids.get(selection.project)
    if known is None:
        rows = Project.objects.values_list("project_id", flat=True)
        known = rows.get(pk=selection.project)
        _ids.put(selection.project, known)
    return known
