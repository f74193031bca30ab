"""Properties of all pages and fragments: small, few queries, tolerant of invalid parameters."""

import gzip
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from projects.models import Project, User
from tests.frontend import shop
from tests.frontend.every_page import FRAGMENTS, HTMX, OF, PAGES, STATES, P, Shown, furnish
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
EVERYTHING = (*PAGES, *STATES, *FRAGMENTS)
BYTES = 30_000  # bytes, compressed
QUERIES = 13  # one of them for the session
# Limits for whole pages that run several profile queries; their fragments need fewer.
MORE = {"flame": 14, "alert_rule": 19, "insights": 47, "search_functions": 37}
# A list of services shows prices, agents, analyses and findings, a breakdown prices and agents.
WHOLE_AND_FRAGMENT = {"services": 17, "breakdown": 15}


@pytest.fixture
def furnished(project: Project, alice: User) -> None:
    furnish(project, alice, timezone.now())


@pytest.fixture
def alices(client: Client, alice: User, furnished: None) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def with_a_profile(client: Client, alice: User, project: Project) -> Client:
    """Sign alice in with a single profile stored, for tests of many URLs."""
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 1))
    client.force_login(alice)
    return client


def test_every_page_is_small_and_takes_few_sql_statements(alices: Client) -> None:
    """Check all pages in one test, so that their data is created once."""
    heavy = []
    alices.get("/p/acme-shop/settings")  # reads what is cached, as the quotas of the banner
    for shown in EVERYTHING:
        with count_queries() as queries:
            response = alices.get(shown.address, headers=shown.headers)
        size = len(gzip.compress(response.content))
        most = WHOLE_AND_FRAGMENT.get(shown.view, QUERIES)
        if not shown.headers:
            most = MORE.get(shown.view, most)
        if size > BYTES or len(queries) > most:
            heavy.append(f"{shown}: {size} bytes, {len(queries)} queries")
    assert heavy == [], heavy


def test_every_page_of_a_member_gets_200(alices: Client) -> None:
    responses = {
        str(shown): alices.get(shown.address, headers=shown.headers) for shown in EVERYTHING
    }
    failed = {
        name: response.status_code
        for name, response in responses.items()
        if response.status_code > 399
    }
    assert failed == {"no such project": 404, "no such page": 404, "no such invitation": 404}


# Parameters that each page validates, and whether it reports those that it ignored.
READ = {
    "services": ("span", "sort", "page"),
    "flame": (
        *("type", "span", "end", "from", "to", "weights", "weight", "f", "view", "root", "order"),
        *("sort", "colour", "frame"),
    ),
    "compare": ("type", "span", "end", "weight", "sort", "b.span", "b.end", "b.weight"),
    "history": ("type", "span", "end", "step"),
    "breakdown": ("type", "span", "end", "step", "group_by", "sort", "page"),
    "profiles": ("type", "span", "end", "weights", "order", "pick_from"),
    "agents": ("show", "state", "page"),
}
LISTS = ("services", "agents")
# Other paths with parameters.
OTHERS = (
    *("flame/tree", "flame/functions", "flame/lines", "flame/over-time"),
    *("flame/download/pprof", "setup/status"),
    *("compare/tree", "compare/csv", "history/csv", "breakdown/csv", "profiles/csv"),
)
PARAMS = {"service": "checkout", "type": "CPU", "span": "1d"}
# Values that users and their mail programs put into URLs.
WRITTEN = ("nonsense", "-1", "99999999999999999999", "١٢", "<b>1</b>", "\u202eabc", "x" * 10_000)


@pytest.mark.parametrize("path", READ)
def test_unreadable_parameters_are_named(with_a_profile: Client, path: str) -> None:
    silent = []
    selected = {} if path in LISTS else {"service": "checkout", "type": "CPU"}
    for value in WRITTEN:
        # The last page replaces a page number that is too high.
        is_number = value.isascii() and value.isdigit()
        names = [name for name in READ[path] if not (name == "page" and is_number)]
        # A pair of `from` and `to` replaces `span` and `end`.
        for requested in (set(names) & {"span", "end"}, set(names) - {"span", "end"}):
            query = urlencode(selected | dict.fromkeys(requested, value))
            response = with_a_profile.get(f"{P}/{path}?{query}")
            html = response.content.decode()
            notices = html.count("could not be read")
            if response.status_code != 200 or notices < len(requested) or "<b>1</b>" in html:
                silent.append(f"{value[:20]}: {response.status_code}, {notices} of {requested}")
    assert silent == []


FREE = (
    *("service", "zone", "version", "profile", "label.endpoint", "sample.endpoint", "metric"),
    *("focus", "search"),
)
# Each group in one request: a name that selects no profiles hides nothing of the others.
FREE_GROUPS = (FREE[:1], FREE[1:6], FREE[6:])
HARMLESS = (*WRITTEN, "\x07\x1b[31m", "/(a+)+$/", "%%%", "名前", "🔥" * 500)


@pytest.mark.parametrize("path", ["flame", "compare", "history", "breakdown", "profiles"])
def test_any_text_in_a_parameter_is_escaped(with_a_profile: Client, path: str) -> None:
    failed = []
    for names in FREE_GROUPS:
        for value in HARMLESS:
            query = urlencode(PARAMS | dict.fromkeys(names, value))
            response = with_a_profile.get(f"{P}/{path}?{query}")
            if response.status_code != 200 or "<b>1</b>" in response.content.decode():
                failed.append(f"{names}={value[:20]!r}: {response.status_code}")
    assert failed == []


@pytest.mark.parametrize("shown", [each for each in FRAGMENTS if each.fragment], ids=str)
def test_fragments_with_broken_parameters_do_not_fail(with_a_profile: Client, shown: Shown) -> None:
    address, _, _query = shown.address.partition("?")
    for query in ("", "?" + "&".join(f"{name}=%FF" for name in (*FREE, "page", "from", "span"))):
        assert with_a_profile.get(address + query, headers=HTMX).status_code in {200, 204, 400}


@pytest.mark.parametrize("page", ["123456789x", "9" * 5000, "0"])
def test_further_functions_have_any_page_number(with_a_profile: Client, page: str) -> None:
    query = urlencode(PARAMS | {"page": page})
    assert with_a_profile.get(f"{P}/flame/functions?{query}").status_code == 200


# Databases reject NUL in text, so no page may pass it on.
@pytest.mark.parametrize("name", ["service", "f", "find", "page", "state", "name", "nonsense"])
def test_nul_in_a_parameter_is_400(with_a_profile: Client, name: str) -> None:
    paths = ["/projects/new/id", *(f"{P}/{path}" for path in (*READ, *OTHERS))]
    requests = [f"{path}?{pair}" for path in paths for pair in (f"{name}=a%00", f"{name}%00=a")]
    statuses = {each: with_a_profile.get(each).status_code for each in requests}
    assert {each: status for each, status in statuses.items() if status != 400} == {}


def test_nul_in_a_request_for_a_capture_is_400(with_a_profile: Client) -> None:
    form = {"service": "checkout\0", "type": "CPU"}
    assert with_a_profile.post(f"{P}/capture", form).status_code == 400


def test_page_reads_repeated_parameters(alices: Client) -> None:
    for shown in (each for each in PAGES if not each.stranger):
        separator = "&" if "?" in shown.address else "?"
        response = alices.get(f"{shown.address}{separator}{OF}&{OF}")
        assert response.status_code == 200, shown
