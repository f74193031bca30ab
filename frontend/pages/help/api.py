"""`/help/api/<queries|management>`: the reference of the API as a page, in English."""

from functools import cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from frontend.pages.help.concepts import render_html

# Files of docs/reference and their labels, by name in the URL.
_FILES = {"queries": "api.md", "management": "management-api.md"}
_CONTRACT = "/api/v1/openapi.json"  # of the API, not one of the pages
_LABELS = {"queries": _("Queries"), "management": _("Management")}


@require_safe
def api_docs(request: HttpRequest, name: str) -> HttpResponse:
    if name not in _FILES:
        raise Http404
    context = {"text": _text(name), "name": name, "labels": _LABELS, "contract": _CONTRACT}
    return render(request, "frontend/help/api.html", context)


@cache
def _text(name: str) -> SafeString:
    return render_html((settings.BASE_DIR / "docs" / "reference" / _FILES[name]).read_text())
