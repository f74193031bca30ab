"""The order of services in menus that have no room for all."""

from collections.abc import Sequence
from datetime import UTC, datetime

from profiles.query import ServiceName

_NEVER = datetime.min.replace(tzinfo=UTC)


def heard_last(services: Sequence[ServiceName]) -> list[ServiceName]:
    """By their last profile, the latest first; those without any are last."""
    return sorted(services, key=lambda row: row.last_profile or _NEVER, reverse=True)
