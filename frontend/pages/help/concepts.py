"""`/help/concepts`: the guide docs/guide/concepts.md as a page."""

from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from frontend.pages.help.markdown import html_of


@require_safe
def concepts(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/help/concepts.html", {"text": _text()})


@cache
def _text() -> SafeString:
    return html_of((settings.BASE_DIR / "docs" / "guide" / "concepts.md").read_text())
