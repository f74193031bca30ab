"""Changes since a version began, estimated from the steps before and after it."""

from datetime import UTC, datetime, timedelta

from frontend.pages.history.version_changes import changes_since
from profiles.queries.reports.time_steps import HistoryStep
from profiles.query import Coverage, HistoryResult, Metric, ProfileSelection, View
from projects.profile_types import ProfileType

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MS = 1_000_000


def of_steps(count: int) -> HistoryResult:
    metric = Metric("cpu", "nanoseconds")
    return HistoryResult(
        selection=ProfileSelection(1, "checkout", ProfileType.CPU, NOON, NOON + count * HOUR),
        view=View(),
        metric=metric,
        metrics=(metric,),
        coverage=Coverage(10 * count, 1, 0, NOON, NOON),
        step_seconds=HOUR.total_seconds(),
        steps=tuple(HistoryStep(NOON + i * HOUR, 10, 1, 1) for i in range(count)),
        lines=(),
        versions=(),
    )


def test_change_larger_than_the_variation_of_steps_is_significant() -> None:
    grew = [(100 + i % 3) * MS for i in range(12)] + [(140 + i % 3) * MS for i in range(12)]
    same = [(100 + i % 5) * MS for i in range(24)]
    grown, stayed = changes_since(NOON + 12 * HOUR, of_steps(24), [grew, same], percent=False)
    assert (grown.text, grown.sign, grown.tested, grown.real) == ("+40 ms", 1, True, True)
    assert (stayed.tested, stayed.real) == (True, False)


def test_step_in_which_the_version_began_is_ignored() -> None:
    course = [1.0 * MS] * 12 + [900.0 * MS] + [1.0 * MS] * 12
    (found,) = changes_since(NOON + 12.5 * HOUR, of_steps(25), [course], percent=False)
    assert (found.text, found.real) == ("0", False)


def test_version_without_earlier_profiles_is_not_tested() -> None:
    course = [None] * 12 + [1.0 * MS] * 12
    (found,) = changes_since(NOON + 12 * HOUR, of_steps(24), [course], percent=False)
    assert (found.text, found.tested) == ("", False)


def test_few_steps_are_not_tested() -> None:
    (found,) = changes_since(NOON + 3 * HOUR, of_steps(6), [[1.0] * 3 + [9.0] * 3], percent=True)
    assert not found.tested
    assert not found.real
