"""`/p/<project>/settings/keys`: list, create, rotate, change and revoke API keys."""

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from frontend.http.fragments import wants_fragment
from frontend.pages.keys.form import ChangeForm, KeyForm
from frontend.pages.keys.view_model import keys_context
from projects.access import membership
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.credentials import keys
from projects.credentials.keys import KeyNotRotated
from projects.models import ApiKey, Member, Project, User


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def list_keys(request: HttpRequest, project_id: str) -> HttpResponse:
    """List the keys on GET; create one on POST, and show its text once."""
    member = membership(request.user, project_id)
    if request.method != "POST":
        return render(request, "frontend/keys/page.html", keys_context(member))
    form = KeyForm(request.POST)
    if form.is_valid():
        try:
            return _render_new_key(request, member, _create(request, member.project, form))
        except LimitReached as reached:
            form.add_error(None, str(reached))
    return _render_form(request, member.project, form, status=400)


@never_cache
@require_http_methods(["GET", "HEAD"])
def new_key(request: HttpRequest, project_id: str) -> HttpResponse:
    """Show the form of a new key, as a dialog for htmx and as a page without."""
    return _render_form(request, membership(request.user, project_id).project, KeyForm())


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rotate(request: HttpRequest, project_id: str, key_id: str) -> HttpResponse:
    """Ask for confirmation on GET; on POST create the new key, and show its text once."""
    member = membership(request.user, project_id)
    key = find_key(member.project, key_id)
    if request.method != "POST":
        context = {"project": member.project, "key": key, "overlap_days": settings.KEY_OVERLAP_DAYS}
        return _render_part(request, "rotate", context)
    try:
        made = keys.rotate(
            key, actor=cast("User", request.user), origin=Origin.from_request(request)
        )
    except (KeyNotRotated, LimitReached) as error:
        messages.warning(request, str(error))
        return redirect("api_keys", project_id)
    return _render_new_key(request, member, made)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, project_id: str, key_id: str) -> HttpResponse:
    """Show the form of the allowed services and the expiry on GET, change them on POST."""
    project = membership(request.user, project_id).project
    key = find_key(project, key_id)
    form = ChangeForm(key, request.POST if request.method == "POST" else None)
    if not form.is_bound or not form.is_valid():
        context = {"project": project, "key": key, "form": form}
        return _render_part(request, "change", context, status=400 if form.is_bound else 200)
    keys.change(
        key,
        services=form.cleaned_data["services"],
        expires=form.cleaned_data["expires"],
        actor=cast("User", request.user),
        origin=Origin.from_request(request),
    )
    messages.success(request, _("Key “%(name)s” changed") % {"name": key.name})
    return redirect("api_keys", project_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, project_id: str, key_id: str) -> HttpResponse:
    """Ask for confirmation on GET, revoke the key on POST."""
    project = membership(request.user, project_id).project
    key = find_key(project, key_id)
    if request.method != "POST":
        return _render_part(request, "revoke", {"project": project, "key": key})
    keys.revoke(key, actor=cast("User", request.user), origin=Origin.from_request(request))
    messages.success(request, _("Key “%(name)s” revoked") % {"name": key.name})
    return redirect("api_keys", project_id)


def find_key(project: Project, key_id: str) -> ApiKey:
    """Return a key in use of the project; raise Http404 if there is none."""
    key = ApiKey.objects.filter(project=project, key_id=key_id, revoked=None).first()
    if key is None or key.has_expired(timezone.now()):
        raise Http404(_("There is no such key in this project, or it is revoked or has expired."))
    return key


def _create(request: HttpRequest, project: Project, form: KeyForm) -> tuple[ApiKey, str]:
    return keys.create(
        project,
        form.cleaned_data["name"],
        write=form.may_write,
        read=form.may_read,
        services=form.cleaned_data["services"],
        default_service=form.cleaned_data["default_service"],
        expires=form.cleaned_data["expires"],
        actor=cast("User", request.user),
        origin=Origin.from_request(request),
    )


def _render_new_key(request: HttpRequest, member: Member, made: tuple[ApiKey, str]) -> HttpResponse:
    return render(request, "frontend/keys/page.html", keys_context(member, new_key=made))


def _render_form(
    request: HttpRequest, project: Project, form: KeyForm, status: int = 200
) -> HttpResponse:
    return _render_part(request, "create", {"project": project, "form": form}, status)


def _render_part(
    request: HttpRequest, name: str, context: dict[str, object], status: int = 200
) -> HttpResponse:
    """Render a dialog for htmx, a page without."""
    template = f"{name}_dialog.html" if wants_fragment(request) else f"{name}.html"
    context = {"here": "settings", **context}
    return render(request, f"frontend/keys/{template}", context, status=status)
