"""Baselines that “Compare to…” offers, and the start of a new comparison."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from frontend.components.charts.version_marks import VersionMark
from frontend.components.results.comparisons import comparisons, start
from frontend.params.page_params import PageParams
from profiles.query import MenuChoice, OptionsResult
from projects.profile_types import ProfileType

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
# In the order of their release, which is not that of their names.
RELEASES = [VersionMark(name, NOON + n * HOUR) for n, name in enumerate(("1.9", "1.10", "1.11"))]
CHECKOUT = PageParams(service="checkout", type=ProfileType.CPU)
SHOP = "service=checkout&type=CPU"


def options(*versions: str, zones: tuple[str, ...] = ()) -> OptionsResult:
    def choices(values: tuple[str, ...]) -> tuple[MenuChoice, ...]:
        return tuple(MenuChoice(value, 5) for value in sorted(values))

    return OptionsResult(choices(zones), choices(versions), {}, (), ())


def offered(params: PageParams, of: OptionsResult) -> dict[str, str]:
    return {each.name: each.parameters for each in comparisons(params, of, RELEASES)}


def test_comparisons_of_a_version_are_with_earlier_and_other_versions() -> None:
    params = PageParams(service="checkout", type=ProfileType.CPU, versions=("1.11",))
    assert offered(params, options("1.9", "1.10", "1.11")) == {
        "Previous version (1.10)": f"{SHOP}&version=1.11&span=1h&b.version=1.10&b.end=now",
        "Previous period": f"{SHOP}&version=1.11&span=1h",
        "Last release before 1.11 (1.10)": (
            f"{SHOP}&version=1.11&span=1h&b.version=1.10&b.span=1h&b.end=2026-11-20T14%3A00%3A00Z"
        ),
        "Version 1.9": f"{SHOP}&version=1.11&span=1h&b.version=1.9&b.end=now",
        "All other versions": (
            f"{SHOP}&version=1.11&span=1h&b.version=1.10&b.version=1.9&b.end=now"
        ),
    }


def test_without_a_version_the_newest_in_the_range_is_selected() -> None:
    found = offered(CHECKOUT, options("1.9", "1.10"))
    assert found["Previous version (1.9)"] == (
        f"{SHOP}&version=1.10&span=1h&b.version=1.9&b.end=now"
    )
    assert found["Previous period"] == f"{SHOP}&span=1h"


def test_the_last_release_may_have_no_profiles_in_the_range() -> None:
    assert list(offered(CHECKOUT, options("1.11"))) == [
        "Previous period",
        "Last release before 1.11 (1.10)",
    ]


def test_a_fixed_range_is_that_of_both_sides() -> None:
    params = PageParams(service="checkout", type=ProfileType.CPU, end=NOON, zones=("eu",))
    found = offered(params, options(zones=("eu", "us")))
    assert found["All other zones"] == (
        f"{SHOP}&zone=eu&span=1h&end=2026-11-20T12%3A00%3A00Z"
        "&b.zone=us&b.end=2026-11-20T12%3A00%3A00Z"
    )


def test_versions_without_a_known_release_still_have_a_previous_period() -> None:
    assert list(offered(CHECKOUT, options("nightly"))) == ["Previous period"]


def test_a_single_profile_is_not_compared() -> None:
    assert comparisons(PageParams(profile="x"), options(), RELEASES) == []


def test_a_new_comparison_has_the_same_range_on_both_sides() -> None:
    assert start(CHECKOUT, options("1.9", "1.10"), RELEASES) == (
        f"{SHOP}&version=1.10&span=1h&b.version=1.9&b.end=now"
    )
    assert start(CHECKOUT, options("1.9"), RELEASES) == f"{SHOP}&span=1h&b.end=now"


def labelled(params: PageParams, *values: str) -> list[tuple[str, str, str]]:
    choices = tuple(MenuChoice(value, 5) for value in values)
    of = OptionsResult((), (), {"instance": choices}, (), ())
    found = [each for each in comparisons(params, of, RELEASES) if each.label]
    return [(each.name, each.parameters, each.menu_id) for each in found]


def test_a_value_of_a_label_is_the_baseline_and_the_other_is_chosen_next() -> None:
    find_new_comparison = f"{SHOP}&span=1h"
    assert labelled(CHECKOUT, "pod-1", "pod-2") == [
        ("pod-1", f"{find_new_comparison}&b.label.instance=pod-1&b.end=now", "labels-of-selected"),
        ("pod-2", f"{find_new_comparison}&b.label.instance=pod-2&b.end=now", "labels-of-selected"),
    ]
    assert labelled(CHECKOUT, "pod-1") == []


def test_a_selected_value_of_a_label_is_compared_with_another_at_once() -> None:
    of_one = replace(CHECKOUT, labels=(("instance", ("pod-1",)),))
    assert labelled(of_one, "pod-1", "pod-2") == [
        (
            "pod-2",
            f"{SHOP}&span=1h&label.instance=pod-1&b.label.instance=pod-2&b.end=now",
            "",
        )
    ]


def test_a_new_comparison_keeps_the_restrictions_and_the_selected_version() -> None:
    of_zone = replace(CHECKOUT, versions=("1.10",), zones=("eu",), focus="main")
    assert start(of_zone, options("1.9", "1.10", "1.11"), RELEASES) == (
        f"{SHOP}&zone=eu&version=1.10&span=1h&focus=main&b.version=1.9&b.end=now"
    )
    oldest = replace(CHECKOUT, versions=("1.9",))
    assert start(oldest, options("1.9", "1.10", "1.11"), RELEASES) == (
        f"{SHOP}&version=1.9&span=1h&b.version=1.11&b.end=now"
    )
