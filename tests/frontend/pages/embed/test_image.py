"""`/embed/<token>.svg`: signed URLs, limits and the picture."""

import time
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from projects.credentials import embed_tokens
from projects.credentials.embed_tokens import EmbedExpired, EmbedNotFound, QueryTooLong
from projects.models import AuditEntry, Project, User
from tests.ingest.client import Client
from tests.profiles import rows

pytestmark = pytest.mark.django_db(transaction=True)
QUERY = "service=shop&type=CPU&from=2026-11-20T12:00:00Z&to=2026-11-20T13:00:00Z"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def shop(project: Project) -> None:
    rows.stored(rows.deployment(project), {"main": 2000, "main;<foo> & \u202ebar": 7000})
    rows.stored(rows.deployment(project, version="2"), {"main": 1000}, minutes=1)


def made(project: Project, by: User, query: str = QUERY, seconds: int = 3600) -> str:
    return embed_tokens.make(project, query, int(time.time()) + seconds, by=by)


def get(token: str, query: str = "", **headers: str) -> httpx.Response:
    return Client("").request("GET", f"/embed/{token}.svg{query}", headers=headers)


def texts(response: httpx.Response) -> list[str]:
    root = ElementTree.fromstring(response.text)
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def test_the_image_shows_the_functions(shop: None, project: Project, bob: User) -> None:
    response = get(made(project, bob))
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "image/svg+xml"
    title, main, foo = texts(response)
    assert title == "shop · CPU time · 2026-11-20 12:00 – 2026-11-20 13:00 UTC · 5 ms per profile"
    assert (main, foo) == ("main", "<foo> & bar")
    root = ElementTree.fromstring(response.text)
    widths = [float(each.get("width", "")) for each in root.iter(f"{SVG}rect")]
    assert widths == [1200, 1199, 839]  # the background, main, and 70 % of it


def test_the_signed_query_selects(shop: None, project: Project, bob: User) -> None:
    response = get(made(project, bob, QUERY + "&version=2"))
    assert texts(response)[1:] == ["main"]
    assert texts(get(made(project, bob, QUERY + "&version=3")))[1:] == ["—"]


def test_headers_allow_any_site_and_no_script(shop: None, project: Project, bob: User) -> None:
    headers = get(made(project, bob)).headers
    assert headers["cross-origin-resource-policy"] == "cross-origin"
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "public, max-age=60"
    assert "set-cookie" not in headers
    assert "x-frame-options" not in headers


def test_an_unchanged_image_is_304(shop: None, project: Project, bob: User) -> None:
    token = made(project, bob)
    tag = get(token).headers["etag"]
    again = get(token, **{"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("query", "width"),
    [("?width=400", 400), ("?width=99999", 1200), ("?width=1&theme=x&levels=-1", 1200)],
)
def test_sizes_are_bounded(query: str, width: int, shop: None, project: Project, bob: User) -> None:
    root = ElementTree.fromstring(get(made(project, bob), query).text)
    assert root.get("width") == str(width)


def test_levels_cut_the_graph(shop: None, project: Project, bob: User) -> None:
    assert texts(get(made(project, bob), "?levels=1&theme=dark"))[1:] == ["main"]


def test_a_forged_token_is_404(shop: None, project: Project, bob: User) -> None:
    token = made(project, bob)
    for forged in (token[:-1] + ("a" if token[-1] != "a" else "b"), "x", "x:y:z", "x" * 5000):
        response = get(forged)
        assert response.status_code == 404
        assert "does not exist" in response.text
        assert response.headers["content-type"] == "image/svg+xml"
        assert response.headers["cache-control"] == "no-store"


def test_an_expired_token_is_410(shop: None, project: Project, bob: User) -> None:
    response = get(made(project, bob, seconds=-1))
    assert response.status_code == 410
    assert texts(response) == ["This image has expired."]


def test_revoked_tokens_are_404(
    shop: None, project: Project, other_project: Project, alice: User
) -> None:
    token, other = made(project, alice), made(other_project, alice)
    embed_tokens.revoke_all(project, by=alice)
    assert get(token).status_code == 404
    assert get(other).status_code == 200
    project.refresh_from_db()
    assert get(made(project, alice)).status_code == 200
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert [each for each in actions if each.startswith("embed")] == [
        "embed.create",
        "embed.create",
        "embed.revoke_all",
        "embed.create",
    ]


def test_another_project_does_not_show_in_it(
    shop: None, other_project: Project, charlie: User
) -> None:
    assert texts(get(made(other_project, charlie)))[1:] == ["—"]


def test_tokens_of_an_old_secret_are_valid_while_it_is_a_fallback(
    shop: None, project: Project, bob: User, settings: Any
) -> None:
    token, old = made(project, bob), settings.SECRET_KEY
    settings.SECRET_KEY = "n" * 60
    with pytest.raises(EmbedNotFound):
        embed_tokens.verified(token)
    settings.SECRET_KEY_FALLBACKS = [old]
    assert embed_tokens.verified(token).query == QUERY


def test_images_count_as_queries_of_the_project(
    shop: None, project: Project, bob: User, settings: Any
) -> None:
    settings.QUERIES_PER_MINUTE = 1
    token = made(project, bob)
    responses = [get(token) for _ in range(4)]
    assert {each.status_code for each in responses} == {200, 429}
    late = next(each for each in responses if each.status_code == 429)
    assert int(late.headers["retry-after"]) > 0
    assert late.headers["content-type"] == "image/svg+xml"


def test_an_invalid_view_is_an_image_with_the_reason(
    shop: None, project: Project, bob: User
) -> None:
    response = get(made(project, bob, QUERY + "&root=00000000000000ff"))
    assert response.status_code == 400
    assert "No node" in texts(response)[0]


def test_a_query_without_a_service_is_404(project: Project, bob: User) -> None:
    assert get(made(project, bob, "span=1h")).status_code == 404


def test_long_queries_are_not_signed(project: Project, bob: User) -> None:
    with pytest.raises(QueryTooLong, match="2,000"):
        made(project, bob, "x" * 2001)


def test_the_time_of_a_token_is_checked_without_the_database(project: Project, bob: User) -> None:
    with pytest.raises(EmbedExpired):
        embed_tokens.verified(made(project, bob, seconds=-1))
