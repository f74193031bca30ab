"""Menus of the picker."""

from datetime import UTC, datetime

import pytest

from frontend.components.selection.picker import Item, picker
from frontend.params.page_params import PageParams
from profiles.query import OptionsResult, ServiceName
from projects.profile_types import ProfileType

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("count", "search"),
    [(100, None), (1500, Item("s0000", "Search all 1,500 services…", False))],
)
def test_menu_with_too_many_services_offers_a_search(count: int, search: Item | None) -> None:
    names = [ServiceName(f"s{n:04}", (ProfileType.CPU,), NOON) for n in range(count)]
    params = PageParams(service="s0000", type=ProfileType.CPU)
    shown = picker(params, names, OptionsResult((), (), {}, (), ()), NOON)
    assert shown.service_search == search
    assert [item.value for item in shown.services if item.chosen] == ["s0000"]
