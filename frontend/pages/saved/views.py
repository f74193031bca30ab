"""`/p/<project>/saved/views`: save, open, rename and delete views."""

from typing import cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from frontend.http.forbidden import require_may_change_saved
from frontend.http.fragments import wants_fragment
from frontend.pages.saved.view import render_outcome, render_page, view_url
from projects import saved_views
from projects.access import membership
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.models import Project, SavedView, User
from projects.saved_views import InvalidView


@require_POST
def create(request: HttpRequest, project_id: str) -> HttpResponse:
    """Save the page at `address` as `name`; return to that page, or one sentence to htmx."""
    member = membership(request.user, project_id)
    name, address = request.POST.get("name", ""), request.POST.get("address", "")
    user = cast("User", request.user)
    is_htmx = wants_fragment(request)
    try:
        view = saved_views.create(
            member.project, name, address, actor=user, origin=Origin.from_request(request)
        )
    except (InvalidView, LimitReached) as error:
        if is_htmx:
            return render_outcome(request, str(error))
        return render_page(request, member, str(error))
    sentence = _("View “%(name)s” saved") % {"name": view.name}
    url = view_url(project_id, view)
    if is_htmx:
        return render_outcome(request, sentence, url)
    messages.success(request, sentence)
    return redirect(url)


@require_safe
@never_cache
def open_view(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    """Redirect to the page of a view: this address stays the same when the view is renamed."""
    member = membership(request.user, project_id)
    return redirect(view_url(project_id, view_for(member.project, pk)))


@require_POST
def rename(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    member = membership(request.user, project_id)
    view = view_for(member.project, pk)
    require_may_change_saved(member, view.created_by_id)
    try:
        saved_views.rename(
            view,
            request.POST.get("name", ""),
            actor=cast("User", request.user),
            origin=Origin.from_request(request),
        )
    except InvalidView as error:
        return render_page(request, member, str(error))
    messages.success(request, _("View “%(name)s” renamed") % {"name": view.name})
    return redirect("saved", project_id)


@require_POST
def delete(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    member = membership(request.user, project_id)
    view = view_for(member.project, pk)
    require_may_change_saved(member, view.created_by_id)
    saved_views.delete(view, actor=cast("User", request.user), origin=Origin.from_request(request))
    messages.success(request, _("View “%(name)s” deleted") % {"name": view.name})
    return redirect("saved", project_id)


def view_for(project: Project, pk: int) -> SavedView:
    """Return a saved view of the project; raise Http404 if there is none."""
    view = SavedView.objects.filter(project=project, pk=pk).first() if pk < 2**63 else None
    if view is None:
        raise Http404(_("There is no such view in this project, or it was deleted."))
    return view
