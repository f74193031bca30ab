"""`/p/<project>/saved`: saved views and snapshots of the project."""

from http import HTTPStatus
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from common.amounts import bytes_text
from frontend.text.display_names import type_name
from profiles.query import SavedTreeInfo, list_saved_trees
from projects import saved_views
from projects.access import may_change_saved, membership
from projects.models import Member, SavedView


class ViewRow(NamedTuple):
    view: SavedView
    url: str
    may_change: bool  # rename and delete


class SnapshotRow(NamedTuple):
    info: SavedTreeInfo
    url: str
    type: str
    size: str
    may_change: bool  # delete


@require_safe
@never_cache
def saved(request: HttpRequest, project_id: str) -> HttpResponse:
    return render_page(request, membership(request.user, project_id))


def render_page(request: HttpRequest, member: Member, view_error: str = "") -> HttpResponse:
    """Render the page, with status 400 if there is an error about a view to show."""
    context = {
        "project": member.project,
        "here": "saved",
        "views": view_rows(member),
        "view_error": view_error,
        "snapshots": snapshot_rows(member),
    }
    status = HTTPStatus.BAD_REQUEST if view_error else HTTPStatus.OK
    return render(request, "frontend/saved/page.html", context, status=status)


def render_outcome(request: HttpRequest, sentence: str, url: str = "") -> HttpResponse:
    """Render the result of saving for htmx: a sentence with a link; an error without URL."""
    return render(request, "frontend/saved/outcome.html", {"sentence": sentence, "url": url})


def view_rows(member: Member) -> list[ViewRow]:
    """Return the project's saved views by name, with what the member may do with them."""
    return [
        ViewRow(view, view_url(member.project.project_id, view), _may_change(member, view))
        for view in saved_views.list_views(member.project)
    ]


def snapshot_rows(member: Member) -> list[SnapshotRow]:
    """Return the project's snapshots, the latest first."""
    flame = reverse("flame", args=[member.project.project_id])
    return [
        SnapshotRow(
            info,
            f"{flame}?snapshot={info.id}",
            type_name(info.type),
            bytes_text(info.size),
            may_change_saved(member, info.created_by.pk if info.created_by else None),
        )
        for info in list_saved_trees(member.project.pk)
    ]


def view_url(project_id: str, view: SavedView) -> str:
    """Return the URL of the page that a view saves."""
    page = reverse(view.page, args=[project_id])
    return f"{page}?{view.query}" if view.query else page


def _may_change(member: Member, view: SavedView) -> bool:
    return may_change_saved(member, view.created_by_id)
