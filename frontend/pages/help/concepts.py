"""`/help/concepts`: the guide docs/guide/concepts.md as a page, in the visitor's language."""

from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from frontend.pages.help.markdown import render_html

# Files of docs/guide, by language.
FILES = {"en": "concepts.md", "es": "concepts.es.md", "zh-hans": "concepts.zh-hans.md"}


@require_safe
def concepts(request: HttpRequest) -> HttpResponse:
    language = get_language()
    return render(request, "frontend/help/concepts.html", {"text": _text(FILES[language])})


@cache
def _text(name: str) -> SafeString:
    return render_html((settings.BASE_DIR / "docs" / "guide" / name).read_text())
