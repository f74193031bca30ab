"""The flame page's contents: what an address comes to for a project, ready to be shown."""

from dataclasses import dataclass, replace

from django.urls import reverse

from frontend import empty, names, summary, time_strip
from frontend.addresses import flame_url
from frontend.chips import Chips, chips
from frontend.comparisons import Comparison, comparisons
from frontend.controls import Controls, controls
from frontend.functions_page import FunctionsPage, functions_page
from frontend.kept_answers import Answers
from frontend.left_out import left_out
from frontend.merged_page import address_of, merged
from frontend.no_profiles import no_profiles
from frontend.picker import Picker, picker
from frontend.question import (
    PATIENCE_SECONDS,
    Question,
    metric_named,
    metric_notice,
    options_of,
    seen_of,
)
from frontend.releases import releases_in
from frontend.selection import DEFAULT_VIEW, Asked
from frontend.shown_empty import ShownEmpty, with_links
from frontend.units import format_count, format_percent, format_value
from profiles.query import (
    Coverage,
    FocusResult,
    Metric,
    NoSuchMetric,
    OptionsResult,
    Selection,
    TopResult,
    Unanswerable,
    run_strip,
)
from projects.models import Project


@dataclass(frozen=True, slots=True)
class ShownFocus:
    """The function that the page is about, averages per profile."""

    name: str
    total: str
    share: str
    stacks: int  # distinct ones that reach it
    count: str  # the same to be read


@dataclass(frozen=True, slots=True)
class Share:
    """How much of the selected profiles the filters leave, averages per profile."""

    shown: str
    whole: str
    percent: str


@dataclass(frozen=True, slots=True)
class Bench:
    empty: ShownEmpty | None
    asked: Asked  # with the service and type that are shown
    selection: Selection
    type: str
    notices: tuple[str, ...]
    picker: Picker
    coverage: Coverage
    metric: str
    average: summary.Average | None  # None: no profiles
    strip: str  # of <profile-strip>
    chips: Chips
    share: Share | None  # None: no filters that change values
    focus: ShownFocus | None
    controls: Controls
    functions: FunctionsPage
    type_words: str  # what the type counts, in one line
    history_url: str  # of the same profiles, with `function` to come
    comparisons: list[Comparison]
    unanswerable: bool  # the root or focus of the address cannot be shown
    tree_url: str
    url: str
    seen: str  # changes when there is something new to see


def bench(of: Question) -> Bench:
    """Raises DeadlinePassed."""
    options = options_of(of.selection, of.deadline)
    metric = metric_named(of.asked.metric, options)
    notices = (*of.notices, *metric_notice(of.asked.metric, metric))
    asked = replace(of.asked, metric=of.asked.metric if metric else "")
    asked, answers, errors = _nearest(of, asked, metric)
    notices = (*notices, *(str(error) for error in errors))
    unanswerable = any(not isinstance(error, NoSuchMetric) for error in errors)
    return _assembled(replace(of, asked=asked, notices=notices), options, answers, unanswerable)


def _nearest(
    of: Question, asked: Asked, metric: Metric | None
) -> tuple[Asked, Answers, list[Unanswerable]]:
    """Merge what is asked, without what these profiles do not have: metric, root or focus."""
    errors: list[Unanswerable] = []
    while True:
        try:
            return asked, merged(asked, of.selection, metric, of.deadline), errors
        except NoSuchMetric as error:  # the menu has the metrics of all zones, versions and labels
            asked, metric = replace(asked, metric=""), None
            errors.append(error)
        except Unanswerable as error:
            if asked.root is None and not asked.focus:
                raise
            asked = replace(asked, root=None, focus="", view=DEFAULT_VIEW)
            errors.append(error)


def not_in_time(project: Project, asked: Asked) -> ShownEmpty:
    """Instead of an answer that did not come within PATIENCE_SECONDS."""
    return with_links(empty.not_in_time(asked, PATIENCE_SECONDS), reverse_flame(project))


def _assembled(of: Question, options: OptionsResult, answers: Answers, unanswerable: bool) -> Bench:
    asked, top = of.asked, answers.top
    coverage = top.coverage
    seen = seen_of(coverage)
    return Bench(
        empty=_empty(of, options, answers),
        asked=asked,
        selection=of.selection,
        type=names.type_name(of.selection.type),
        notices=(*of.notices, *left_out(coverage)),
        picker=picker(asked, of.services, options, of.now),
        coverage=coverage,
        metric=names.metric_name(top.metric),
        average=_average(top),
        strip=_strip(of),
        chips=chips(asked.filters),
        share=_share(asked, top),
        focus=_focus(of, answers),
        controls=controls(asked, top, of.project),
        functions=functions_page(asked, top, of.project, seen),
        type_words=names.type_words(of.selection.type),
        history_url=_history_url(of),
        comparisons=comparisons(asked, options, of.project),
        unanswerable=unanswerable,
        tree_url=_tree_url(of, seen),
        url=flame_url(of.project, asked),
        seen=seen,
    )


def _history_url(of: Question) -> str:
    plain = replace(of.asked.of_the_data(), view=DEFAULT_VIEW, focus="", root=None, profile="")
    return f"{reverse('history', args=[of.project.project_id])}?{plain.parameters()}"


def _empty(of: Question, options: OptionsResult, answers: Answers) -> ShownEmpty | None:
    coverage = answers.top.coverage
    if not coverage.profiles:
        return with_links(no_profiles(of, options), reverse_flame(of.project))
    if not coverage.total:
        return with_links(empty.without_values(of.selection, coverage), reverse_flame(of.project))
    if answers.top.rows:
        return None
    if of.asked.focus:
        return with_links(empty.out_of_focus(of.asked), reverse_flame(of.project))
    return with_links(empty.filtered_away(of.asked), reverse_flame(of.project))


def _average(top: TopResult) -> summary.Average | None:
    if not top.coverage.profiles:
        return None
    return summary.average(top.selection.type, top.metric, top.coverage)


def _strip(of: Question) -> str:
    around = time_strip.around(of.selection, of.now)
    result = run_strip(around, time_strip.steps(around.end - around.start), of.deadline)
    return time_strip.strip(result, of.selection, releases_in(around))


def _share(asked: Asked, top: TopResult) -> Share | None:
    if not asked.filters and not asked.focus and asked.root is None:
        return None
    shown, whole = sum(row.self for row in top.rows), top.coverage.total
    profiles, unit = max(1, top.coverage.profiles), top.metric.unit
    return Share(
        shown=format_value(shown / profiles, unit),
        whole=format_value(whole / profiles, unit),
        percent=format_percent(shown, whole),
    )


def _focus(of: Question, answers: Answers) -> ShownFocus | None:
    found, coverage = answers.drawn, answers.top.coverage
    if not isinstance(found, FocusResult) or found.row is None:
        return None
    return ShownFocus(
        name=found.row.name,
        total=format_value(found.row.total / max(1, coverage.profiles), found.metric.unit),
        share=format_percent(found.row.total, coverage.total),
        stacks=found.row.count,
        count=format_count(found.row.count),
    )


def reverse_flame(project: Project) -> str:
    return reverse("flame", args=[project.project_id])


def _tree_url(of: Question, seen: str) -> str:
    """The tree behind the page."""
    tree = reverse("flame_tree", args=[of.project.project_id])
    return f"{tree}?{address_of(of.asked, seen)}"
