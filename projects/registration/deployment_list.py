"""Paginated list of deployments, oldest first."""

from projects.models import Deployment


def page(project: int, service: str, size: int, after: int = 0) -> list[Deployment]:
    """Return at most `size` deployments of a project (its pk), of one service or, for "", of all.

    `after` is the pk of the previous page's last row: rows inserted meanwhile neither shift nor
    repeat the following ones. Blocks on the database.
    """
    rows = Deployment.objects.filter(project=project, pk__gt=after)
    if service:
        rows = rows.filter(service=service)
    return list(rows.order_by("pk")[:size])
