"""`/embed/<token>.svg` and `.png`: signed URLs, limits and the picture."""

import re
import time
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from PIL import Image, ImageColor

from frontend.pages.embed.picture import ROW, TITLE, GraphBox, GraphPicture, TextLabel
from frontend.pages.embed.png import MAX_PIXELS
from frontend.pages.embed.png import png as draw_png
from frontend.pages.embed.theme import THEMES
from profiles.query import DeadlinePassed
from projects.credentials import embed_tokens
from projects.credentials.embed_tokens import EmbedExpired, EmbedNotFound, QueryTooLong
from projects.models import AuditEntry, Project, User
from tests.frontend import shop as shop_page
from tests.ingest.client import Client
from tests.profiles import rows

pytestmark = [pytest.mark.one_database, pytest.mark.django_db(transaction=True)]
QUERY = "service=shop&type=CPU&from=2026-11-20T12:00:00Z&to=2026-11-20T13:00:00Z"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def shop(project: Project) -> None:
    rows.stored(rows.deployment(project), {"main": 2000, "main;<foo> & \u202ebar": 7000})
    rows.stored(rows.deployment(project, version="2"), {"main": 1000}, minutes=1)


def made(project: Project, by: User, query: str = QUERY, seconds: int = 3600) -> str:
    return embed_tokens.make(project, query, int(time.time()) + seconds, actor=by)


def get(token: str, query: str = "", ending: str = "svg", **headers: str) -> httpx.Response:
    return Client("").request("GET", f"/embed/{token}.{ending}{query}", headers=headers)


def png(token: str, query: str = "") -> Image.Image:
    response = get(token, query, "png")
    assert response.headers["content-type"] == "image/png"
    return Image.open(BytesIO(response.content))


def colours_in(image: Image.Image, box: tuple[int, int, int, int]) -> set[Any]:
    return {colour for _, colour in image.crop(box).getcolors(100_000) or []}


def texts(response: httpx.Response) -> list[str]:
    root = ElementTree.fromstring(response.text)
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def test_svg_has_title_functions_and_widths(shop: None, project: Project, bob: User) -> None:
    response = get(made(project, bob))
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "image/svg+xml"
    title, main, foo = texts(response)
    assert title == "shop · CPU time · 2026-11-20 12:00 – 2026-11-20 13:00 UTC · 5 ms per profile"
    assert (main, foo) == ("main", "<foo> & bar")
    root = ElementTree.fromstring(response.text)
    widths = [float(each.get("width", "")) for each in root.iter(f"{SVG}rect")]
    assert widths == [1200, 1199, 839]  # the background, main, and 70 % of it


def test_image_has_the_profiles_of_the_signed_query(
    shop: None, project: Project, bob: User
) -> None:
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
def test_size_outside_the_bounds_gets_the_default(
    query: str, width: int, shop: None, project: Project, bob: User
) -> None:
    root = ElementTree.fromstring(get(made(project, bob), query).text)
    assert root.get("width") == str(width)


def test_levels_parameter_limits_the_depth(shop: None, project: Project, bob: User) -> None:
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
    embed_tokens.revoke_all(project, actor=alice)
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


def test_image_has_no_profiles_of_another_project(
    shop: None, other_project: Project, charlie: User
) -> None:
    assert texts(get(made(other_project, charlie)))[1:] == ["—"]


def test_tokens_of_an_old_secret_are_valid_while_it_is_a_fallback(
    shop: None, project: Project, bob: User, settings: Any
) -> None:
    token, old = made(project, bob), settings.SECRET_KEY
    settings.SECRET_KEY = "n" * 60
    with pytest.raises(EmbedNotFound):
        embed_tokens.verify(token)
    settings.SECRET_KEY_FALLBACKS = [old]
    assert embed_tokens.verify(token).query == QUERY


@pytest.mark.usefixtures("stopped_clock")
def test_images_count_as_queries_of_the_project(
    shop: None, project: Project, bob: User, settings: Any
) -> None:
    settings.QUERIES_PER_MINUTE = 1
    token = made(project, bob)
    responses = [get(token) for _ in range(4)]
    assert [each.status_code for each in responses] == [200, 429, 429, 429]
    late = responses[1]
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
        embed_tokens.verify(made(project, bob, seconds=-1))


DJANGO = ("serve", "/x/site-packages/django/views.py")
OWN: shop_page.FrameStacks = {  # more packages of own code than the palette has
    **{(DJANGO, (f"f{i}", f"/app/own_{i}/views.py")): 100 - i for i in range(11)},
    (("f11", "/app/own_11/views.py"), ("memcpy", "")): 150,
}


@pytest.fixture
def packages(project: Project) -> str:
    """Store a profile with packages of own code, libraries and native code; return its query."""
    shop_page.send(shop_page.deployment(project), [rows.NOON], OWN)
    return QUERY.replace("service=shop", "service=checkout")


def fills(response: httpx.Response) -> dict[str, str]:
    """Return the colour of the boxes of each function, and check that it is only one."""
    pairs = {
        (str(box.findtext(f"{SVG}title")).rpartition(" ")[0].rpartition(" ")[0], rect.get("fill"))
        for box in ElementTree.fromstring(response.text).iter(f"{SVG}g")
        for rect in box.iter(f"{SVG}rect")
    }
    found = {name: str(fill) for name, fill in pairs}
    assert len(found) == len(pairs)
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_frames_have_the_colours_of_their_packages(
    theme: str, packages: str, project: Project, bob: User
) -> None:
    found = fills(get(made(project, bob, packages), f"?width=2400&theme={theme}"))
    tokens = {fill: token for token, fill in THEMES[theme].fills.items()}
    own = [tokens[found[f"f{i}"]] for i in range(12)]  # f11 is the largest by total
    assert sorted(own[:3] + own[11:]) == ["own-1", "own-2", "own-3", "own-4"]
    assert set(own[3:11]) == {"own-rest"}
    assert re.fullmatch(r"lib-\d", tokens[found["serve"]])
    assert tokens[found["memcpy"]] == "unknown"


@pytest.mark.parametrize("view", ["view=bottomup", "focus=f10", "focus=memcpy&split=version"])
def test_every_view_has_the_colours_of_the_whole_selection(
    view: str, packages: str, project: Project, bob: User
) -> None:
    whole = fills(get(made(project, bob, packages), "?width=2400"))
    shown = fills(get(made(project, bob, f"{packages}&{view}"), "?width=2400"))
    assert len(shown) > 1
    assert {name: fill for name, fill in shown.items() if name in whole}.items() <= whole.items()


def test_filters_choose_the_packages_that_have_colours(
    packages: str, project: Project, bob: User
) -> None:
    found = fills(get(made(project, bob, f"{packages}&f=show:f10"), "?width=2400"))
    assert found["f10"] in {THEMES["light"].fills[f"own-{i}"] for i in range(1, 5)}


def test_highlighted_nodes_and_values_of_a_split_are_no_packages(
    packages: str, project: Project, bob: User
) -> None:
    theme = THEMES["dark"]
    query = f"{packages}&f=highlight:own_3&split=version"
    response = get(made(project, bob, query), "?width=2400&theme=dark")
    found = fills(response)
    assert found["f3"] == theme.highlight
    assert found["version: 2.31.0"] == theme.fills["native"]
    inks = {
        text.text: text.get("fill")
        for text in ElementTree.fromstring(response.text).iter(f"{SVG}text")
    }
    assert (inks["f3"], inks["f4"]) == (theme.highlight_ink, theme.ink)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", [1, 2])
def test_a_png_has_the_boxes_and_colours_of_the_svg(
    theme: str, scale: int, shop: None, project: Project, bob: User
) -> None:
    token, query = made(project, bob), f"?width=600&theme={theme}"
    image = png(token, f"{query}&scale={scale}")
    root = ElementTree.fromstring(get(token, query).text)
    size = (int(root.get("width", "")) * scale, int(root.get("height", "")) * scale)
    assert (image.format, image.size) == ("PNG", size)
    background, *boxes = root.iter(f"{SVG}rect")
    assert len(boxes) == 2
    assert image.getpixel((size[0] - 1, size[1] - 1)) == rgb(background)
    for box in boxes:
        left, top, width, height = (
            float(box.get(name, "")) for name in ("x", "y", "width", "height")
        )
        right, bottom = round((left + width) * scale), round((top + height) * scale)
        corners = [(round(left * scale), round(top * scale)), (right - 1, bottom - 1)]
        assert {image.getpixel(corner) for corner in corners} == {rgb(box)}
        assert image.getpixel((right, bottom - 1)) == rgb(background)


def rgb(element: ElementTree.Element) -> tuple[int, ...]:
    return ImageColor.getrgb(element.get("fill", ""))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_texts_of_a_png_are_drawn_in_their_boxes(
    theme: str, shop: None, project: Project, bob: User
) -> None:
    image = png(made(project, bob), f"?theme={theme}")
    ink = ImageColor.getrgb(THEMES[theme].ink)
    label, beside = (4, TITLE, 32, TITLE + ROW - 1), (40, TITLE, 1198, TITLE + ROW - 1)
    assert ink in colours_in(image, label), "main is written at the start of its box"
    assert len(colours_in(image, beside)) == 1, "and nothing beside it"
    assert ImageColor.getrgb(THEMES[theme].text) in colours_in(image, (0, 0, 1200, TITLE))


def test_a_png_is_cached_like_an_svg(shop: None, project: Project, bob: User) -> None:
    token = made(project, bob)
    svg_headers, first = get(token).headers, get(token, ending="png")
    for name in ("cache-control", "cross-origin-resource-policy", "content-security-policy"):
        assert first.headers[name] == svg_headers[name]
    again = get(token, ending="png", **{"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_errors_of_a_png_are_png(project: Project, bob: User) -> None:
    for token, status in [("x:y:z", 404), (made(project, bob, seconds=-1), 410)]:
        response = get(token, "?scale=2", "png")
        assert response.status_code == status
        assert response.headers["cache-control"] == "no-store"
        assert Image.open(BytesIO(response.content)).size == (1200, 2 * TITLE)


def picture(width: int, height: int, boxes: int) -> GraphPicture:
    label = TextLabel(4, TITLE + 12, "name", "#000000")
    box = GraphBox(0, TITLE, width, "#ff0000", "name", "", label)
    return GraphPicture(width, height, "", "#ffffff", (), (box,) * boxes)


@pytest.mark.parametrize(("width", "height", "scale"), [(1000, 1000, 2), (2400, 1824, 1)])
def test_the_scale_is_one_above_the_most_pixels(width: int, height: int, scale: int) -> None:
    data = draw_png(picture(width, height, 1), 2, lambda: None)
    assert Image.open(BytesIO(data)).size == (width * scale, height * scale)
    assert width * height * scale**2 <= MAX_PIXELS


def test_drawing_ends_at_the_deadline() -> None:
    checked = []

    def check() -> None:
        checked.append(1)
        if len(checked) == 3:
            raise DeadlinePassed

    with pytest.raises(DeadlinePassed):
        draw_png(picture(100, 100, 10_000), 1, check)
    assert len(checked) == 3
