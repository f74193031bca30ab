"""Menus of the picker."""

from datetime import UTC, datetime

import pytest

from frontend.components.picker import picker
from frontend.queries.params import PageParams
from profiles.query import OptionsResult, ServiceName
from projects.profile_types import ProfileType

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("count", "note"),
    [(100, ""), (500, "100 of 500 services. Press Ctrl-K to search all.")],
)
def test_menu_with_too_many_services_says_how_to_find_the_others(count: int, note: str) -> None:
    names = [ServiceName(f"s{n:03}", (ProfileType.CPU,), NOON) for n in range(count)]
    params = PageParams(service="s000", type=ProfileType.CPU)
    shown = picker(params, names, OptionsResult((), (), {}, (), ()), NOON)
    assert shown.services_note == note
    assert [item.value for item in shown.services if item.chosen] == ["s000"]
