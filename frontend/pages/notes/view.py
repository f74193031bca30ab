"""`/p/<project>/notes`: list of notes, and the forms to add, edit and delete them."""

from functools import partial
from typing import cast
from urllib.parse import urlsplit

from django.contrib import messages
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from endpoints.params import parameter, values
from endpoints.params.parameter import Parameter
from endpoints.params.reader import LenientReader
from endpoints.params.selection import SERVICE
from endpoints.params.view import MAX_NAME
from frontend.components.results.pagination import paginate
from frontend.pages.notes.form import NoteForm, list_form_values
from projects import annotations
from projects.access import may_annotate, membership
from projects.annotations import AnnotationLimit
from projects.audit import Origin
from projects.models import Annotation, Member, User

ROWS = 50
PAGE = Parameter("page", "Number of the page", partial(values.count, most=10**6), 1)
AT = Parameter("at", "Time of the note", values.time, None, values.with_zone)
VERSION = parameter.text("version", "Version of the note", 512)
FUNCTION = parameter.text("function", "Full name of the note's function", MAX_NAME)


@require_safe
def notes(request: HttpRequest, project_id: str) -> HttpResponse:
    """List the notes of the project, or of one service with those of no service."""
    member = membership(request.user, project_id)
    reader = LenientReader.from_query(request.GET)
    service = reader.read(SERVICE)
    rows = Annotation.objects.filter(project=member.project).select_related("created_by")
    if service:
        rows = rows.filter(service__in=("", service))
    pages = paginate(rows.count(), ROWS, reader.read(PAGE))
    newest = rows.order_by(Coalesce("at", "created").desc(), "-pk")
    context = {
        "project": member.project,
        "here": "notes",
        "rows": newest[pages.first : pages.behind],
        "pages": pages,
        "service": service,
        "may_annotate": may_annotate(member),
    }
    return render(request, "frontend/notes/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_note(request: HttpRequest, project_id: str) -> HttpResponse:
    """Show the form with the values in the URL; `function` asks for the form of a function."""
    member = membership(request.user, project_id)
    reader = LenientReader.from_query(request.GET)
    initial = {
        "at": reader.read(AT) or timezone.now(),
        "service": reader.read(SERVICE),
        "version": reader.read(VERSION),
        "function": reader.read(FUNCTION),
    }
    posted = request.POST if request.method == "POST" else None
    form = NoteForm(posted, initial=initial, of_function=FUNCTION.name in (posted or request.GET))
    if posted is not None and form.is_valid():
        user = cast("User", request.user)
        try:
            annotations.create(
                member.project.pk, form.annotation, actor=user, origin=Origin.from_request(request)
            )
        except AnnotationLimit as reached:
            form.add_error(None, str(reached))
        else:
            messages.success(request, _("Note added"))
            return redirect(_back(request, project_id))
    return _form(request, member, form)


@require_http_methods(["GET", "HEAD", "POST"])
def edit_note(request: HttpRequest, project_id: str, note: int) -> HttpResponse:
    member = membership(request.user, project_id)
    row = _note(member, note)
    posted = request.POST if request.method == "POST" else None
    form = NoteForm(posted, initial=list_form_values(row), of_function=bool(row.function))
    if posted is not None and form.is_valid():
        annotations.change(
            row,
            form.annotation,
            actor=cast("User", request.user),
            origin=Origin.from_request(request),
        )
        messages.success(request, _("Note saved"))
        return redirect(_back(request, project_id))
    return _form(request, member, form, row)


@require_http_methods(["GET", "HEAD", "POST"])
def delete_note(request: HttpRequest, project_id: str, note: int) -> HttpResponse:
    """Ask for confirmation on GET, delete the note on POST."""
    member = membership(request.user, project_id)
    row = _note(member, note)
    if request.method == "POST":
        annotations.delete(
            row, actor=cast("User", request.user), origin=Origin.from_request(request)
        )
        messages.success(request, _("Note deleted"))
        return redirect("notes", project_id)
    context = {"project": member.project, "here": "notes", "row": row}
    return render(request, "frontend/notes/delete.html", context)


def _note(member: Member, note: int) -> Annotation:
    row = Annotation.objects.filter(project=member.project, pk=note).first()
    if row is None:
        raise Http404(_("There is no such note in this project, or it was deleted."))
    return row


def _form(
    request: HttpRequest, member: Member, form: NoteForm, row: Annotation | None = None
) -> HttpResponse:
    context = {
        "project": member.project,
        "here": "notes",
        "form": form,
        "row": row,
        "back": _back(request, member.project.project_id),
    }
    status = 400 if form.errors else 200
    return render(request, "frontend/notes/form.html", context, status=status)


def _back(request: HttpRequest, project_id: str) -> str:
    """Return the page of the project that the user came from; the list of notes otherwise."""
    listed = reverse("notes", args=[project_id])
    came = request.POST.get("next", "")
    if request.method != "POST":
        referer = urlsplit(request.headers.get("Referer", ""))
        if referer.netloc == request.get_host():
            came = f"{referer.path}?{referer.query}" if referer.query else referer.path
    is_ours = came.startswith(f"/p/{project_id}/") and url_has_allowed_host_and_scheme(came, None)
    return came if is_ours and not came.startswith(f"{listed}/") else listed
