"""`/p/<project>/settings/keys`: create, change, rotate and revoke API keys."""

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from frontend.http.fragments import wants_fragment
from frontend.pages.settings.key_form import KeyForm, ServicesForm
from frontend.pages.settings.view_model import settings_context
from projects.access import membership
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.credentials import keys
from projects.models import ApiKey, Project, User


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest, project_id: str) -> HttpResponse:
    """Create a key and show its secret once, on the settings page.

    A GET request, such as a reload, redirects to the settings page.
    """
    member = membership(request.user, project_id)
    if request.method != "POST":
        return redirect("settings", project_id)
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _response(request, dict(settings_context(member, key_form=form)))
    try:
        made = keys.create(
            member.project,
            form.cleaned_data["name"],
            write=form.may_write,
            read=form.may_read,
            default_service=form.cleaned_data["default_service"],
            services=form.cleaned_data["services"],
            expires=form.expires,
            actor=cast("User", request.user),
            origin=Origin.from_request(request),
        )
    except LimitReached as reached:
        form.add_error(None, str(reached))
        return _response(request, dict(settings_context(member, key_form=form)))
    return _response(request, dict(settings_context(member, new_key=made)))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rotate(request: HttpRequest, project_id: str, key_id: str) -> HttpResponse:
    """Ask for confirmation on GET; on POST create the new key and show its secret once."""
    member = membership(request.user, project_id)
    key = key_for(member.project, key_id)
    if request.method != "POST":
        days = settings.KEY_OVERLAP_DAYS
        context = {"project": member.project, "here": "settings", "key": key, "days": days}
        part = "rotate_dialog.html" if wants_fragment(request) else "rotate.html"
        return render(request, f"frontend/settings/{part}", context)
    try:
        new_key = keys.rotate(
            key, actor=cast("User", request.user), origin=Origin.from_request(request)
        )
    except (keys.InvalidRotation, LimitReached) as error:
        messages.warning(request, str(error))
        return redirect(f"{reverse('settings', args=[project_id])}#keys")
    return _response(request, dict(settings_context(member, new_key=new_key)))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def change_services(request: HttpRequest, project_id: str, key_id: str) -> HttpResponse:
    """Show the allowed services of a key; a POST changes them."""
    member = membership(request.user, project_id)
    key = key_for(member.project, key_id)
    posted = request.POST if request.method == "POST" else None
    form = ServicesForm(posted, initial={"services": ", ".join(key.services)})
    if posted is not None and form.is_valid():
        keys.change_services(
            key,
            form.cleaned_data["services"],
            actor=cast("User", request.user),
            origin=Origin.from_request(request),
        )
        messages.success(request, _("Allowed services saved"))
        return redirect(f"{reverse('settings', args=[project_id])}#keys")
    context = {"project": member.project, "here": "settings", "key": key, "form": form}
    status = 400 if form.errors else 200
    return render(request, "frontend/settings/key_services.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, project_id: str, key_id: str) -> HttpResponse:
    """Ask for confirmation on GET, revoke the key on POST."""
    member = membership(request.user, project_id)
    key = key_for(member.project, key_id)
    if request.method != "POST":
        context = {"project": member.project, "here": "settings", "key": key}
        part = "revoke_dialog.html" if wants_fragment(request) else "revoke.html"
        return render(request, f"frontend/settings/{part}", context)
    keys.revoke(key, actor=cast("User", request.user), origin=Origin.from_request(request))
    messages.success(request, _("Key “%(name)s” revoked") % {"name": key.name})
    return redirect(f"{reverse('settings', args=[project_id])}#keys")


def key_for(project: Project, key_id: str) -> ApiKey:
    """Return a key in use of the project; raise Http404 if there is none."""
    key = ApiKey.objects.filter(project=project, key_id=key_id, revoked=None).first()
    if key is None:
        raise Http404(_("There is no such key in this project, or it is already revoked."))
    return key


def _response(request: HttpRequest, context: dict[str, object]) -> HttpResponse:
    page = "keys.html" if wants_fragment(request) else "settings.html"
    return render(request, f"frontend/settings/{page}", context)
