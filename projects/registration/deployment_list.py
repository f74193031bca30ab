"""Deployments as a list, in the order in which they came, page by page."""

from projects.models import Deployment


def page(project: int, service: str, size: int, after: int = 0) -> list[Deployment]:
    """At most `size` of a project's (its pk), of one service or of all ("").

    `after` is the key of the last row of the page before: those that come meanwhile neither
    shift nor repeat what follows. For code that may block.
    """
    rows = Deployment.objects.filter(project=project, pk__gt=after)
    if service:
        rows = rows.filter(service=service)
    return list(rows.order_by("pk")[:size])
