"""`/help/concepts`: the guide docs/guide/concepts.md as a page, in the visitor's language."""

from collections.abc import Sequence
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.utils.translation import get_language
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

# Files of docs/guide, by language.
FILES = {"en": "concepts.md", "es": "concepts.es.md", "zh-hans": "concepts.zh-hans.md"}


@require_safe
def concepts(request: HttpRequest) -> HttpResponse:
    language = get_language()
    return render(request, "frontend/help/concepts.html", {"text": _text(FILES[language])})


@cache
def _text(name: str) -> SafeString:
    return render_html((settings.BASE_DIR / "docs" / "guide" / name).read_text())


def render_html(text: str) -> SafeString:
    """Convert CommonMark with tables; headings get an id derived from their text."""
    html: str = _markdown.render(text)
    return mark_safe(html.strip())  # noqa: S308  escaped by the renderer


def _add_attributes(state: StateCore) -> None:
    """Give headings an id and column headers their scope."""
    for token, inline in zip(state.tokens, [*state.tokens[1:], None], strict=True):
        if token.type == "heading_open" and inline is not None:
            token.attrSet("id", slugify(inline.content, allow_unicode=True))
        elif token.type == "th_open":
            token.attrSet("scope", "col")


def _replace_links(state: StateCore) -> None:
    """Lead links between the files of the documentation to their pages, and unlink the others."""
    links = (
        child
        for token in state.tokens
        for child in token.children or ()
        if child.type == "link_open"
    )
    for link in links:
        path, _, fragment = str(link.attrGet("href")).partition("#")
        if not path.endswith(".md") or "://" in path:
            continue
        address = _pages().get(path.rpartition("/")[2])
        if address is None:
            del link.attrs["href"]
        else:
            link.attrSet("href", f"{address}#{fragment}" if fragment else address)


def _pages() -> dict[str, str]:
    """Return the addresses of the files of the documentation that are pages, by their names."""
    return {
        "concepts.md": reverse("concepts"),
        "api.md": reverse("api_docs", args=["queries"]),
        "management-api.md": reverse("api_docs", args=["management"]),
    }


def _code_block(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return format_html(
        '<pre class="code" tabindex="0">{}</pre>', tokens[index].content.rstrip("\n")
    )


def _table_open(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Make wide tables scroll, with the keyboard too."""
    return '<div class="scroll" tabindex="0"><table>'


def _table_close(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return "</table></div>"


_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
_markdown.core.ruler.push("attributes", _add_attributes)
_markdown.core.ruler.push("links", _replace_links)
_markdown.add_render_rule("code_block", _code_block)
_markdown.add_render_rule("fence", _code_block)
_markdown.add_render_rule("table_open", _table_open)
_markdown.add_render_rule("table_close", _table_close)
