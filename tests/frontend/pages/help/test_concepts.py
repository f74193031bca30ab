"""`/help/concepts`, and the Markdown renderer behind it."""

import re

import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation

from frontend.pages.help.concepts import FILES, render_html
from frontend.text.display_names import type_name
from projects.profile_types import NEVER_REQUESTED, ProfileType
from tests.paths import ROOT

pytestmark = pytest.mark.one_database

GUIDE = ROOT / "docs" / "guide"


def without_breaks(html: str) -> str:
    """Remove line breaks between elements."""
    return re.sub(r">\n<", "><", html)


@pytest.mark.django_db
def test_page_is_shown_without_a_session(client: Client) -> None:
    html = without_breaks(client.get("/help/concepts").content.decode())
    assert '<h2 id="self-and-total">Self and total</h2>' in html
    assert "<td>foo1</td><td>main</td><td>1.5 s</td><td>4 s</td>" in html
    assert "**" not in html


@pytest.mark.django_db
@pytest.mark.parametrize("language", FILES)
def test_page_names_every_profile_type_in_each_language(client: Client, language: str) -> None:
    response = client.get("/help/concepts", headers={"Accept-Language": language})
    with translation.override(language):
        names = [type_name(of).lower() for of in set(ProfileType) - NEVER_REQUESTED]
    assert [name for name in names if name not in response.content.decode().lower()] == []


@pytest.mark.django_db
def test_page_has_the_language_of_the_visitor(client: Client) -> None:
    html = client.get("/help/concepts", headers={"Accept-Language": "es"}).content.decode()
    assert '<h2 id="propio-y-total">Propio y total</h2>' in html


@pytest.mark.parametrize("name", FILES.values())
def test_headings_have_ids_of_their_own(name: str) -> None:
    ids = re.findall(r'<h\d id="([^"]*)"', render_html((GUIDE / name).read_text()))
    assert len(ids) > 5
    assert "" not in ids
    assert len(set(ids)) == len(ids)


def test_every_language_has_the_same_outline_and_examples() -> None:
    """Compare the levels of headings, code blocks, numbers of list items, rows and paragraphs."""
    assert FILES.keys() == dict(settings.LANGUAGES).keys()
    english, *others = [(GUIDE / name).read_text() for name in FILES.values()]
    assert all(outline(each) == outline(english) for each in others)


def outline(text: str) -> list[str]:
    """Return the types of a page's elements, its code blocks and the cells that are numbers."""
    html = render_html(text)
    elements = re.findall(r"<(h\d|p|li|tr)\b|(<pre.*?</pre>)|>([\d.]+ s)<", html, re.DOTALL)
    return ["".join(each) for each in elements]


@pytest.mark.django_db
def test_pages_link_to_concepts(client: Client) -> None:
    assert 'href="/help/concepts"' in client.get("/help/concepts").content.decode()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# A & B", '<h1 id="a-b">A &amp; B</h1>'),
        ("one\ntwo `<b>`", "<p>one\ntwo <code>&lt;b&gt;</code></p>"),
        ("<b>one</b>", "<p>&lt;b&gt;one&lt;/b&gt;</p>"),
        ("**a** *b*", "<p><strong>a</strong> <em>b</em></p>"),
        ("- a\n  b\n- c", "<ul><li>a\nb</li><li>c</li></ul>"),
        ("    x < y\n      z", '<pre class="code" tabindex="0">x &lt; y\n  z</pre>'),
        (
            "| a | b |\n| --- | --- |\n| 1 | `x` |",
            '<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">a</th>'
            '<th scope="col">b</th></tr></thead><tbody><tr><td>1</td><td><code>x</code></td></tr>'
            "</tbody></table></div>",
        ),
        ("[t](#a)", '<p><a href="#a">t</a></p>'),
        ("[t](javascript:alert(1))", "<p>[t](javascript:alert(1))</p>"),
    ],
)
def test_markdown_is_rendered_as_html(text: str, html: str) -> None:
    assert without_breaks(render_html(text)) == html
