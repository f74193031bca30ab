"""`/p/<project>/embed`: create and revoke the URLs of embedded images."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from frontend.http.fragments import wants_fragment
from frontend.pages.embed.params import LEVELS, MAX_LEVELS, MAX_WIDTH, MIN_WIDTH, THEME, WIDTH
from frontend.params.compare_params import read as read_comparison
from frontend.params.page_params import page_params
from projects.access import may_revoke_embeds, membership
from projects.audit import Origin
from projects.credentials import embed_tokens
from projects.credentials.embed_tokens import COMPARE, FLAME, PATH_PREFIX, QueryTooLong
from projects.models import Member, Project, User

_DAYS = (1, 7, 30, 90, 365)
GRAPH = parameter.choice("graph", "`compare` embeds a comparison", (FLAME, COMPARE))


# Names in the form: the ending of the URL, and its parameters.
_FORMATS: Mapping[str, tuple[str, dict[str, int]]] = {
    "svg": ("svg", {}),
    "png": ("png", {}),
    "png2": ("png", {"scale": 2}),
}


def _list_durations() -> list[tuple[int, str]]:
    """Return the choices in the language of the request."""
    return [(n, ngettext("%(n)d day", "%(n)d days", n) % {"n": n}) for n in _DAYS]


class EmbedForm(forms.Form):
    format = forms.ChoiceField(
        label=gettext_lazy("Image format"),
        help_text=gettext_lazy("Use PNG where SVG isn’t supported."),
        choices=[
            ("svg", "SVG"),
            ("png", "PNG"),
            ("png2", gettext_lazy("PNG, 2× scale")),
        ],
        initial="svg",
    )
    days = forms.TypedChoiceField(
        label=gettext_lazy("Expires after"),
        coerce=int,
        choices=_list_durations,
        initial=30,
    )
    theme = forms.ChoiceField(
        label=gettext_lazy("Theme"),
        choices=[("light", gettext_lazy("Light")), ("dark", gettext_lazy("Dark"))],
        initial=THEME.default,
    )
    width = forms.IntegerField(
        label=gettext_lazy("Width in pixels"),
        min_value=MIN_WIDTH,
        max_value=MAX_WIDTH,
        initial=WIDTH.default,
    )
    levels = forms.IntegerField(
        label=gettext_lazy("Levels"), min_value=1, max_value=MAX_LEVELS, initial=LEVELS.default
    )


@dataclass(frozen=True, slots=True)
class EmbeddedView:
    """View of a page, of which an image is made."""

    page: str  # of projects.credentials.embed_tokens
    query: str  # its parameters
    service: str
    url: str  # path of the page with them

    @property
    def name(self) -> str:
        words = {"service": self.service}
        if self.page == COMPARE:
            return _("Comparison of %(service)s") % words
        return _("Flame graph of %(service)s") % words


@dataclass(frozen=True, slots=True)
class Embedded:
    """URL of a new image, and texts to paste."""

    url: str
    path: str  # the same without the server, for the preview
    width: int  # pixels of the page
    html: str
    markdown: str


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def embed(request: HttpRequest, project_id: str) -> HttpResponse:
    """Create an image of the flame graph, or with `graph=compare` of the comparison.

    htmx gets the dialog of the flame page, and for a form the dialog's new content.
    """
    member = membership(request.user, project_id)
    view = _read_view(request, member.project)
    if view is None:
        return redirect("flame", project_id)
    form = EmbedForm(request.POST if request.method == "POST" else None)
    made = None
    if request.method == "POST" and form.is_valid():
        try:
            made = _make(request, member, view, form)
        except QueryTooLong as error:
            form.add_error(None, str(error))
    template = "embed.html"
    if wants_fragment(request):
        template = "embed_body.html" if request.method == "POST" else "embed_dialog.html"
    context = _context(member, view, form) | {"made": made}
    return render(request, f"frontend/flame/{template}", context)


@require_POST
def revoke(request: HttpRequest, project_id: str) -> HttpResponse:
    """Revoke all images of the project."""
    member = membership(request.user, project_id)
    embed_tokens.revoke_all(
        member.project, actor=cast("User", request.user), origin=Origin.from_request(request)
    )
    view = _read_view(request, member.project)
    if view is not None and wants_fragment(request):
        context = _context(member, view, EmbedForm()) | {"revoked": True}
        return render(request, "frontend/flame/embed_body.html", context)
    messages.success(request, _("All embedded images of this project were revoked."))
    return redirect(view.url if view else reverse("flame", args=[project_id]))


def _read_view(request: HttpRequest, project: Project) -> EmbeddedView | None:
    """Return the view that the address of the form names; None without service or type."""
    reader, now = LenientReader.from_query(request.GET), timezone.now()
    if reader.read(GRAPH) == COMPARE:
        comparison, _notices = read_comparison(reader.without(GRAPH.name), now)
        page, params, query = COMPARE, comparison.selected, comparison.side_parameters()
    else:
        params = page_params(reader, now).data_params()
        page, query = FLAME, params.parameters()
    if not params.service or params.type is None:
        return None
    url = f"{reverse(page, args=[project.project_id])}?{query}"
    return EmbeddedView(page, query, params.service, url)


def _context(member: Member, view: EmbeddedView, form: EmbedForm) -> dict[str, object]:
    project, query = member.project, view.query
    if view.page == COMPARE:
        query = f"{GRAPH.name}={COMPARE}&{query}"
    return {
        "project": project,
        "here": "flame",
        "form": form,
        "view": view,
        "embed_url": f"{reverse('embed', args=[project.project_id])}?{query}",
        "revoke_url": f"{reverse('revoke_embeds', args=[project.project_id])}?{query}",
        "may_revoke": may_revoke_embeds(member),
    }


def _make(request: HttpRequest, member: Member, view: EmbeddedView, form: EmbedForm) -> Embedded:
    days = form.cleaned_data["days"]
    expires = int(time.time()) + days * 86_400
    user = cast("User", request.user)
    token = embed_tokens.make(
        member.project,
        view.query,
        expires,
        page=view.page,
        actor=user,
        origin=Origin.from_request(request),
    )
    ending, parameters = _FORMATS[form.cleaned_data["format"]]
    width = form.cleaned_data["width"]
    shown = {name: form.cleaned_data[name] for name in ("width", "levels", "theme")}
    path = f"{PATH_PREFIX}{token}.{ending}?{urlencode(shown | parameters)}"
    url = f"{settings.FLAMEWATCH_URL}{path}"
    page = f"{settings.FLAMEWATCH_URL}{view.url}"
    image = f'<img src="{escape(url)}" width="{width}" alt="{escape(view.name)}">'
    return Embedded(
        url,
        path,
        width,
        f'<a href="{escape(page)}">{image}</a>',
        f"[![{_plain(view.name)}]({url})]({page})",
    )


def _plain(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")
