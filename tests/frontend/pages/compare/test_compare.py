"""`/p/<project>/compare`, two sets of profiles and their differences."""

import csv
import gzip
import io
import json
import re
from dataclasses import asdict, replace
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from frontend.pages.compare.changes import changes as build_changes
from frontend.pages.compare.view_model import explain_no_intervals
from profiles.query import ProfileSelection, Untested, UntestedReason, View, run_compare
from projects.models import Deployment, Project, User
from projects.profile_types import ProfileType
from tests.frontend import shop
from tests.profiles.contexts import query_context
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
COMPARE = "/p/acme-shop/compare"
WHAT = {"service": "checkout", "type": "CPU", "span": "1h"}
VERSIONS = WHAT | {"version": "2.31.0", "b.version": "2.30.4", "b.end": "now"}
MAIN, GREW, ADDED = ("main", "main.py"), ("shop.Rule.matches", "rules.py"), ("tax", "tax.py")
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def now() -> datetime:
    return timezone.now()


@pytest.fixture
def versions(project: Project, now: datetime) -> None:
    """Store thirty profiles per version; in the newer, one function takes 10 % more, one is new."""
    for version, grown, added in (("2.30.4", 100, 0), ("2.31.0", 200, 50)):
        of = shop.deployment(project, version=version)
        for n, moment in enumerate(shop.minutes_before(now, 30)):
            stacks: dict[tuple[shop.Frame, ...], int] = {
                (MAIN,): 700_000 + 1000 * (n % 7),
                (MAIN, GREW): 1000 * grown + 1000 * (n % 5),
            }
            if added:
                stacks[MAIN, ADDED] = 1000 * added + 1000 * (n % 3)
            shop.send(of, [moment], stacks)


@pytest.fixture
def signed_in(client: Client, bob: User) -> Client:
    client.force_login(bob)
    return client


def shown(client: Client, parameters: dict[str, str]) -> str:
    response = client.get(COMPARE, parameters)
    assert response.status_code == 200
    return response.content.decode()


def rows(html: str) -> list[list[str]]:
    """Return the texts of the list, row by row."""
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [
            " ".join(re.sub(r"<[^>]+>", "", cell).split())
            for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)
        ]
        for row in body.split("<tr>")[1:]
    ]


def test_page_without_services_links_to_the_setup(signed_in: Client, project: Project) -> None:
    assert "No service sends profiles yet" in shown(signed_in, {})


@pytest.mark.usefixtures("versions")
def test_summary_has_the_averages_of_both_sides(signed_in: Client) -> None:
    html = shown(signed_in, VERSIONS)
    line = " ".join(re.sub(r"<[^>]+>", "", html.partition('class="line"')[2]).split())
    assert line.index("Baseline: 30 profiles, average 805 ms") < line.index(
        "Selected: 30 profiles, average 956 ms"
    )
    assert "Total: +151 ms" in line
    assert "among 3 functions" in line


@pytest.mark.usefixtures("versions")
def test_significant_changes_have_an_interval_and_others_say_so(signed_in: Client) -> None:
    found = {row[0]: row for row in rows(shown(signed_in, VERSIONS))}
    grew = found["shop.Rule.matches"]
    assert grew[1:3] == ["+100 ms", "+100 ms"]
    assert re.fullmatch(r"\+9\d(\.\d)? … \+10\d ms", grew[3])
    assert grew[4:] == ["102 ms", "202 ms"]
    assert found["tax added"][2] == "+51 ms"
    assert found["tax added"][4:] == ["0", "51 ms"]


@pytest.mark.usefixtures("versions")
def test_relative_rows_have_shares_and_percentage_points(signed_in: Client) -> None:
    html = shown(signed_in, VERSIONS | {"values": "relative", "real": "1"})
    found = {row[0]: row for row in rows(html)}
    assert found["shop.Rule.matches"][1:] == ["+8.5 pp", "+8.5 pp", "12.7%", "21.1%"]
    assert found["main"][1:] == ["-13.8 pp", "0", "100%", "100%"]
    assert "<flame-diff" in html
    assert " relative\n" in html
    assert "Only absolute changes are tested." in html
    assert "Significant changes only" not in html


def whole(html: str) -> list[str]:
    """Return the texts of the row of the total."""
    row = html.partition('<tr class="whole">')[2].partition("</tr>")[0]
    texts = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)
    return [" ".join(re.sub(r"<[^>]+>", "", cell).split()) for cell in texts]


@pytest.mark.usefixtures("versions")
def test_the_total_is_the_first_row(signed_in: Client) -> None:
    assert whole(shown(signed_in, VERSIONS | {"values": "relative"})) == [
        *("Total", "0", "0", "100%", "100%")
    ]
    absolute = whole(shown(signed_in, VERSIONS))
    assert absolute[:3] == ["Total", "0", "+151 ms"]
    assert absolute[3] == "+150 … +152 ms"
    assert absolute[4:] == ["805 ms", "956 ms"]
    hidden = whole(shown(signed_in, VERSIONS | {"f": "hide:tax"}))
    assert (hidden[2], hidden[5]) == ("+100 ms", "905 ms")


@pytest.mark.usefixtures("versions")
def test_every_absolute_row_has_one_sign(signed_in: Client, project: Project) -> None:
    """A function whose share shrinks while its value grows is an increase in all columns."""
    found = rows(shown(signed_in, VERSIONS))
    for name, _own, total, interval, baseline, selected in found:
        if interval.startswith(("+", "-")):
            assert interval[0] == total[0], name
        grows = baseline == "0" or float(selected.split()[0]) > float(baseline.split()[0])
        assert (total[0] == "+") == grows, name


@pytest.mark.usefixtures("versions")
def test_the_largest_increase_is_first_and_the_largest_decrease_last(signed_in: Client) -> None:
    swap_sides = WHAT | {"version": "2.30.4", "b.version": "2.31.0", "b.end": "now"}
    assert [row[2] for row in rows(shown(signed_in, VERSIONS))] == ["+151 ms", "+100 ms", "+51 ms"]
    assert [row[2] for row in rows(shown(signed_in, swap_sides))] == [
        "-51 ms",
        "-100 ms",
        "-151 ms",
    ]


@pytest.mark.usefixtures("versions")
def test_real_parameter_lists_significant_changes_only(signed_in: Client) -> None:
    same = WHAT | {"version": "2.31.0", "b.version": "2.31.0", "b.end": "now"}
    html = shown(signed_in, same)
    assert "Not significant" in html
    assert "0 significant changes" in html
    assert len(rows(html)) == 3
    real = shown(signed_in, same | {"real": "1"})
    assert "All differences between these profiles can be explained by chance." in real
    assert {row[0] for row in rows(shown(signed_in, VERSIONS | {"real": "1"}))} == {
        "shop.Rule.matches",
        "tax added",
        "main",
    }


@pytest.mark.usefixtures("versions")
def test_list_is_sorted_by_each_column(signed_in: Client) -> None:
    def names(order: str) -> list[str]:
        return [row[0] for row in rows(shown(signed_in, VERSIONS | {"sort": order}))]

    assert names("name") == ["main", "shop.Rule.matches", "tax added"]
    assert names("-name") == ["tax added", "shop.Rule.matches", "main"]
    assert names("self") == ["shop.Rule.matches", "tax added", "main"]
    assert names("-self")[0] == "main"


@pytest.mark.usefixtures("versions")
def test_too_few_profiles_are_reported_and_not_tested(signed_in: Client, now: datetime) -> None:
    few = VERSIONS | {"span": "3m"}
    html = shown(signed_in, few)
    assert "Not enough profiles to compare." in html
    said = r"each side needs 8 profiles or more, and one has [1-3]\. A comparison needs about 30"
    assert re.search(said, html)
    assert all(row[3] == "not tested" for row in rows(html))


@pytest.mark.parametrize("reason", UntestedReason)
def test_reason_without_intervals_is_that_of_the_api(reason: UntestedReason) -> None:
    why = Untested(reason, found=12_000, limit=900)
    assert explain_no_intervals(why).startswith(str(why))


@pytest.mark.usefixtures("versions")
def test_default_baseline_is_the_range_before(signed_in: Client, project: Project) -> None:
    html = shown(signed_in, WHAT | {"span": "15m"})
    line = " ".join(re.sub(r"<[^>]+>", "", html.partition('class="line"')[2]).split())
    assert "Selected: 28 profiles" in line
    assert "Baseline: 30 profiles" in line


@pytest.mark.usefixtures("versions")
def test_a_new_comparison_starts_with_the_newest_version_and_the_one_before(
    signed_in: Client, now: datetime
) -> None:
    Deployment.objects.filter(version="2.31.0").update(first_seen=now)
    response = signed_in.get(COMPARE)
    assert response.headers["Location"] == (
        f"{COMPARE}?service=checkout&type=CPU&version=2.31.0&span=1h&b.version=2.30.4&b.end=now"
    )
    assert signed_in.get(COMPARE, WHAT).status_code == 200


@pytest.mark.usefixtures("versions")
def test_equal_sides_get_a_hint_what_to_change(signed_in: Client) -> None:
    html = shown(signed_in, WHAT | {"b.end": "now"})
    assert "Both sides select the same profiles." in html
    assert "Both sides select the same profiles." not in shown(signed_in, VERSIONS)


@pytest.mark.usefixtures("versions")
def test_link_to_another_comparison_keeps_the_display_options(signed_in: Client) -> None:
    html = shown(signed_in, VERSIONS | {"side": "sides", "values": "relative"})
    assert (
        f"{COMPARE}?service=checkout&amp;type=CPU&amp;version=2.31.0&amp;span=1h"
        "&amp;side=sides&amp;values=relative"
    ) in html


@pytest.mark.usefixtures("versions")
def test_the_tree_has_both_sides_and_their_intervals(signed_in: Client) -> None:
    response = signed_in.get(f"{COMPARE}/tree", VERSIONS)
    tree = json.loads(gzip.decompress(response.content))
    assert (tree["profiles"], tree["b"]["profiles"]) == (30, 30)
    length = len(tree["depth"])
    assert {len(tree[name]) for name in ("self", "ci_lo", "ci_hi", "q")} == {length}
    assert len(tree["b"]["self"]) == length


@pytest.mark.usefixtures("versions")
def test_list_is_downloaded_as_csv(signed_in: Client) -> None:
    response = signed_in.get(f"{COMPARE}/csv", VERSIONS)
    header, *found = csv.reader(io.StringIO(response.content.decode()))
    assert header[2:9] == [
        "baseline self (nanoseconds, profiles: 30)",
        "baseline total (nanoseconds, profiles: 30)",
        "selected self (nanoseconds, profiles: 30)",
        "selected total (nanoseconds, profiles: 30)",
        "selected - baseline, self per profile (nanoseconds)",
        "selected - baseline, total per profile (nanoseconds)",
        "selected - baseline, total per profile, 95 % interval from (nanoseconds)",
    ]
    grew = next(row for row in found if row[0] == "shop.Rule.matches")
    assert (grew[3], grew[5], grew[7], grew[11]) == (
        "3060000000",
        "6060000000",
        "100000000.0",
        "yes",
    )
    response = signed_in.get(f"{COMPARE}/csv", VERSIONS | {"values": "relative"})
    header, *found = csv.reader(io.StringIO(response.content.decode()))
    assert header[6:] == ["selected - baseline, self (pp)", "selected - baseline, total (pp)"]
    points = next(float(row[7]) for row in found if row[0] == "shop.Rule.matches")
    assert points == pytest.approx(100 * (6060 / 28680 - 3060 / 24150), abs=0.01)


@pytest.mark.usefixtures("versions")
def test_both_sides_can_be_downloaded(signed_in: Client) -> None:
    links = re.findall(r'href="([^"]*/download/pprof[^"]*)"', shown(signed_in, VERSIONS))
    assert len(links) == 2
    assert all(signed_in.get(link.replace("&amp;", "&")).status_code == 200 for link in links)


def test_a_tree_or_file_without_a_selection_is_rejected(
    signed_in: Client, project: Project
) -> None:
    assert signed_in.get(f"{COMPARE}/tree").status_code == 400
    assert signed_in.get(f"{COMPARE}/csv").status_code == 400


def test_tree_is_401_for_strangers_and_404_for_outsiders(
    client: Client, charlie: User, project: Project
) -> None:
    assert client.get(f"{COMPARE}/tree", WHAT).status_code == 401
    client.force_login(charlie)
    for path in ("", "/tree", "/csv"):
        assert client.get(COMPARE + path, WHAT).status_code == 404


def test_markup_in_names_is_escaped(signed_in: Client, project: Project, now: datetime) -> None:
    of = shop.deployment(project, version=HOSTILE)
    shop.send(of, shop.minutes_before(now, 1), {((HOSTILE, HOSTILE),): 1000})
    assert "<script>alert" not in shown(signed_in, WHAT)


@pytest.mark.usefixtures("versions")
def test_unreadable_parameters_are_named(signed_in: Client) -> None:
    html = shown(signed_in, WHAT | {"b.end": "never", "sort": "colour", "side": "up"})
    assert "“end=never” in the address could not be read" in html
    assert "“sort=colour” in the address could not be read" in html


@pytest.mark.usefixtures("versions")
def test_the_tree_takes_few_queries(signed_in: Client) -> None:
    with count_queries() as queries:
        assert signed_in.get(f"{COMPARE}/tree", VERSIONS).status_code == 200
    assert len(queries) <= 20


@pytest.mark.usefixtures("versions")
def test_the_page_and_its_graph_merge_once(signed_in: Client) -> None:
    html = shown(signed_in, VERSIONS)
    source = re.search(r'data-src="([^"]+)"', html)
    assert source
    with count_queries() as queries:
        response = signed_in.get(source[1].replace("&amp;", "&"))
    tree = json.loads(gzip.decompress(response.content))
    assert (tree["profiles"], tree["b"]["profiles"]) == (30, 30)
    assert not [sql for sql in queries if "profiles_profile" in sql]


@pytest.mark.usefixtures("versions")
def test_unknown_root_gives_the_whole_tree(signed_in: Client) -> None:
    html = shown(signed_in, VERSIONS | {"root": "0123456789abcdef"})
    assert "No node 0123456789abcdef in this view" in html
    assert "shop.Rule.matches" in html or "Rule.matches" in html
    assert 'id="rooted"' not in html


def test_comparison_without_profiles_suggests_another_range(
    signed_in: Client, project: Project, now: datetime
) -> None:
    shop.send(shop.deployment(project), [now - timedelta(days=3)])
    html = shown(signed_in, WHAT)
    assert "No profiles on either side" in html
    assert "Last 7 days" in html


GC = ("runtime.gcBgMarkWorker", "mgc.go")


@pytest.fixture
def two_roots(project: Project, now: datetime) -> None:
    """Store 35 profiles per version, whose values vary and whose call trees have two roots."""
    for version, main, gc in (("2.30.4", 700, 120), ("2.31.0", 820, 124)):
        of = shop.deployment(project, version=version)
        for n, moment in enumerate(shop.minutes_before(now, 35)):
            work = 100 * (version == "2.31.0") + 200
            stacks: dict[tuple[shop.Frame, ...], int] = {
                (MAIN,): 1000 * (main - work + n % 7),
                (MAIN, GREW): 1000 * (work + n % 5),
                (GC,): 1000 * (gc + n % 3),
            }
            shop.send(of, [moment], stacks)


@pytest.mark.usefixtures("two_roots")
def test_the_total_of_several_roots_has_an_interval(signed_in: Client) -> None:
    name, _own, total, interval, baseline, selected = whole(shown(signed_in, VERSIONS))
    assert (name, total, baseline, selected) == ("Total", "+124 ms", "826 ms", "950 ms")
    assert re.fullmatch(r"\+12[123] … \+12[567] ms", interval)
    hidden = whole(shown(signed_in, VERSIONS | {"f": "hide:matches"}))
    assert (hidden[2], hidden[5]) == ("+24 ms", "648 ms")
    assert re.fullmatch(r"\+2[23](\.\d)? … \+2[456](\.\d)? ms", hidden[3])


@pytest.mark.usefixtures("two_roots")
def test_increases_are_listed_first_in_page_csv_and_graph(
    signed_in: Client, project: Project, now: datetime
) -> None:
    found = rows(shown(signed_in, VERSIONS))
    assert [row[0] for row in found] == ["main", "shop.Rule.matches", "runtime · gcBgMarkWorker"]
    assert [row[2] for row in found] == ["+120 ms", "+100 ms", "+4 ms"]
    assert all(row[3][0] == "+" for row in found)

    hour = ProfileSelection(project.pk, "checkout", ProfileType.CPU, now - timedelta(hours=1), now)
    sides = replace(hour, versions=("2.31.0",)), replace(hour, versions=("2.30.4",))
    result = run_compare(query_context(hour), *sides, View())
    changes = {change.name: change for change in result.functions}

    response = signed_in.get(f"{COMPARE}/csv", VERSIONS)
    _header, *lines = csv.reader(io.StringIO(response.content.decode()))
    assert {line[0] for line in lines} == changes.keys()
    for line in lines:
        change = changes[line[0]]
        assert line[2:6] == [
            *(str(change.b_self), str(change.b_total)),
            *(str(change.a_self), str(change.a_total)),
        ]
        assert [float(each) for each in line[8:11]] == [change.low, change.high, change.q]
    by_name = {line[0]: line for line in lines}
    names = ["main", "shop.Rule.matches", "runtime.gcBgMarkWorker"]
    assert [f"+{float(by_name[name][7]) / 1e6:.0f} ms" for name in names] == [
        row[2] for row in found
    ]

    whole_by_chance = replace(result, whole=replace(result.whole, real=False))
    signs = [
        build_changes(
            each, relative=False, real=real, sort="self", reverse=False, whole=False
        ).whole.total.sign  # type: ignore[union-attr]
        for each, real in ((result, True), (whole_by_chance, False), (whole_by_chance, True))
    ]
    assert signs == [1, 1, 0]  # as the colour of its frame in the graph

    tree = json.loads(gzip.decompress(signed_in.get(f"{COMPARE}/tree", VERSIONS).content))
    assert tree["whole"] == asdict(result.whole)
    frames = zip(tree["frame"], tree["ci_lo"], tree["ci_hi"], strict=True)
    for frame, low, high in frames:
        change = changes[tree["names"][tree["frames"]["name"][frame]]]
        assert (low, high) == pytest.approx((change.low, change.high), rel=1e-4)
