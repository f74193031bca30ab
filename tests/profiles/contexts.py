"""Contexts of queries in tests."""

from threading import Event

from profiles.query import QueryContext, Selection


def query_context(
    of: Selection | int, deadline: float | None = None, cancelled: Event | None = None
) -> QueryContext:
    """Return a new context for the project (or its pk) of a selection."""
    project = of if isinstance(of, int) else of.project
    return QueryContext(project, "acme-shop", deadline, cancelled or Event())
