"""Order of services in menus that cannot list all of them."""

from collections.abc import Sequence

from profiles.query import ServiceName


def by_last_seen(services: Sequence[ServiceName]) -> list[ServiceName]:
    """Sort services by the time they were last seen, latest first.

    Services without a profile come last.
    """
    return sorted(services, key=lambda row: (bool(row.types), row.last_seen), reverse=True)
