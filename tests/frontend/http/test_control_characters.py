"""Control and bidirectional characters of names in pages."""

import re
import unicodedata
from collections.abc import Callable

import pytest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from frontend.http.control_characters import ControlCharacterMiddleware, visible
from projects.models import Project, User
from tests.frontend import shop

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
EVIL = "\u202egpj.exe\u2066"


@pytest.mark.parametrize("character", [*BIDI, "\x01", "\x7f", "\x85", "\u200b", "\ufeff"])
def test_an_invisible_character_is_replaced_in_text(character: str) -> None:
    assert visible(f"<p>a{character}b</p>".encode()).decode() == "<p>a\ufffdb</p>"


def test_every_bidirectional_control_is_replaced() -> None:
    controls = {
        chr(code)
        for code in range(0x110000)
        if unicodedata.bidirectional(chr(code))
        in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    }
    assert controls < set(BIDI)
    shown = visible("".join(f"<b>{each}</b>" for each in sorted(controls)).encode()).decode()
    assert shown == "<b>\ufffd</b>" * len(controls)


def test_visible_attributes_are_replaced_and_other_values_stay_exact() -> None:
    html = (
        '<a href="?focus=\u202e" data-name="\u202e" aria-label="Remove \u202e">\u202e</a>'
        '<input value="\u202e" placeholder="\u202e"><textarea>\u202e</textarea>'
    )
    assert visible(html.encode()).decode() == (
        '<a href="?focus=\u202e" data-name="\u202e" aria-label="Remove \ufffd">\ufffd</a>'
        '<input value="\u202e" placeholder="\ufffd"><textarea>\u202e</textarea>'
    )


@pytest.mark.parametrize("text", ["Zürich 中文 🙂 — “quoted” … 12\u2009ms", "a\tb\r\nc", ""])
def test_other_text_is_unchanged(text: str) -> None:
    assert visible(text.encode()).decode() == text


def test_response_other_than_html_is_unchanged(rf: RequestFactory) -> None:
    def reply(response: HttpResponse) -> bytes:
        given: Callable[[HttpRequest], HttpResponse] = lambda _request: response  # noqa: E731
        return ControlCharacterMiddleware(given)(rf.get("/")).content

    assert reply(HttpResponse("\u202e")) == "\ufffd".encode()
    assert reply(HttpResponse("\u202e", "text/csv")) == "\u202e".encode()
    assert b"\\u202e" in reply(JsonResponse({"name": "\u202e"}))


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["flame", "services", "profiles", "history", "compare"])
def test_page_has_no_control_characters_of_names(
    client: Client, project: Project, alice: User, page: str
) -> None:
    of = shop.deployment(project, f"service{EVIL}", f"zone{EVIL}", f"version{EVIL}")
    stacks: shop.FrameStacks = {((f"function{EVIL}", f"/app/file{EVIL}.py"),): 500_000}
    shop.send(of, shop.minutes_before(timezone.now(), 3), stacks)
    client.force_login(alice, "allauth.account.auth_backends.AuthenticationBackend")
    parameters = {"search": EVIL, "f": f"highlight:function{EVIL}", "span": "1h"}
    response = client.get(reverse(page, args=[project.project_id]), parameters)
    assert response.status_code == 200
    html = response.content.decode()
    text = re.sub(r"<[^>]*>", "", html)
    assert not set(text) & set(BIDI)
    assert not [
        label for label in re.findall(r'aria-label="[^"]*"', html) if set(label) & set(BIDI)
    ]
    assert "\ufffdgpj.exe\ufffd" in text
