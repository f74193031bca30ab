"""`/p/<project>/snapshots`: take and delete snapshots of merged call trees."""

from dataclasses import replace
from typing import cast
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from common.disk_space import DiskFull
from endpoints.params.reader import LenientReader
from frontend.http.forbidden import require_may_change_saved
from frontend.http.fragments import wants_fragment
from frontend.page_query import (
    DEADLINE_SECONDS,
    PageQuery,
    find_metric,
    query_context,
    resolve_page_query,
)
from frontend.pages.saved.view import render_outcome
from frontend.params.page_params import DEFAULT_VIEW, PageParams, read
from profiles.query import (
    DeadlinePassed,
    InvalidQuery,
    NothingToStore,
    SavedTreeInfo,
    SavedTreeNotFound,
    SavedTreeNotStored,
    delete_saved_tree,
    get_saved_tree,
    save_tree,
)
from projects.access import membership
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.models import Member, User
from projects.usage.quota_reached import QuotaReached


@require_POST
def create(request: HttpRequest, project_id: str) -> HttpResponse:
    """Store what the flame page at `address` shows, as `title`; link to it."""
    member = membership(request.user, project_id)
    is_htmx = wants_fragment(request)
    try:
        info = _taken(request, member)
    except NothingToStore:
        error = _("There are no profiles in this selection.")
    except DeadlinePassed:
        sentence = _("Merging these profiles takes more than %(n)d s. Try a shorter time range.")
        error = sentence % {"n": DEADLINE_SECONDS}
    except (InvalidQuery, LimitReached, QuotaReached, DiskFull, SavedTreeNotStored) as reason:
        error = str(reason)
    else:
        url = snapshot_url(project_id, info)
        if not is_htmx:
            return redirect(url)
        return render_outcome(request, _("Snapshot stored."), url)
    if is_htmx:
        return render_outcome(request, error)
    messages.warning(request, error)
    return redirect(f"{reverse('saved', args=[project_id])}#snapshots")


@require_POST
def delete(request: HttpRequest, project_id: str, snapshot_id: str) -> HttpResponse:
    member = membership(request.user, project_id)
    context = query_context(request, member.project)
    try:
        info = get_saved_tree(context, snapshot_id)
    except SavedTreeNotFound as error:
        raise Http404(str(error)) from error
    require_may_change_saved(member, info.created_by.pk if info.created_by else None)
    delete_saved_tree(
        member.project.pk,
        snapshot_id,
        actor=cast("User", request.user),
        origin=Origin.from_request(request),
    )
    messages.success(request, _("Snapshot “%(title)s” deleted") % {"title": info.title})
    return redirect(f"{reverse('saved', args=[project_id])}#snapshots")


def snapshot_url(project_id: str, info: SavedTreeInfo) -> str:
    """Return the URL of the flame page with a snapshot, in the view in which it was taken."""
    page_query = LenientReader.from_query(QueryDict(info.query))
    stored = read(page_query, info.end).params
    plain = PageParams()
    view = replace(
        stored.drop_profile_labels().drop_sample_labels(),
        service="",
        type=None,
        span=plain.span,
        end=plain.end,
        weight=plain.weight,
        weights=plain.weights,
        profile=plain.profile,
        snapshot=info.id,
    )
    query = QueryDict(view.parameters(), mutable=True)
    del query["span"]
    return f"{reverse('flame', args=[project_id])}?{query.urlencode()}"


def _taken(request: HttpRequest, member: Member) -> SavedTreeInfo:
    """Take the snapshot of a request. Raise what the queries and storing raise."""
    now = timezone.now()
    query = QueryDict(urlsplit(request.POST.get("address", "")).query)
    params = read(LenientReader.from_query(query), now)
    if params.params.snapshot:
        raise InvalidQuery(_("This is a snapshot already."))
    context = query_context(request, member.project)
    page_query = resolve_page_query(context, member.project, params, now)
    if page_query is None:
        raise NothingToStore
    metric = find_metric(context, page_query.selection, page_query.params.metric)
    return save_tree(
        context,
        page_query.profile_selection,
        page_query.params.build_view(metric),
        title=_title(request.POST.get("title", ""), page_query),
        query=_absolute(page_query).parameters(),
        actor=cast("User", request.user),
        origin=Origin.from_request(request),
    )


def _title(text: str, page_query: PageQuery) -> str:
    """Return the title, or one of the selection without one."""
    selection = page_query.selection
    return text.strip() or f"{selection.service} {selection.type} {selection.end:%F %H:%M}"


def _absolute(page_query: PageQuery) -> PageParams:
    """Return the parameters with the range that they have now."""
    end = page_query.selection.end.replace(microsecond=0)
    view = page_query.params.view if page_query.params.view != "list" else DEFAULT_VIEW
    return replace(page_query.params, end=end, view=view)
