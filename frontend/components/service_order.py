"""The order of services in menus that have no room for all."""

from collections.abc import Sequence

from profiles.query import ServiceName


def heard_last(services: Sequence[ServiceName]) -> list[ServiceName]:
    """The latest first; those without a profile are last."""
    return sorted(services, key=lambda row: (bool(row.types), row.last_seen), reverse=True)
