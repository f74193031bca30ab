"""`/p/<project>/settings/members`: people, invitations and roles, and changes of members."""

from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from frontend.http.forbidden import require_permission
from frontend.pages.members.confirmation import Confirmation, render_confirmation
from frontend.pages.members.form import RoleForm
from frontend.pages.members.view_model import members_context
from frontend.templatetags.people import display_name
from projects import members
from projects.access import membership
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.members import LastOwner, MemberChanged, PermissionNeeded
from projects.models import Member, Role


@require_safe
@never_cache
def list_members(request: HttpRequest, project_id: str) -> HttpResponse:
    member = membership(request.user, project_id)
    return render(request, "frontend/members/page.html", members_context(member))


@require_POST
def change_role(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    actor = membership(request.user, project_id)
    target = _member_for(actor, pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.warning(request, _("There is no such role."))
        return redirect("members", project_id)
    role = Role(form.cleaned_data["role"])
    change = partial(members.change_role, actor, target, role)
    if _is_done(request, actor, change):
        sentence = _("%(person)s now has the role %(role)s")
        role_text = str(role.label).lower()
        messages.success(
            request, sentence % {"person": display_name(target.user), "role": role_text}
        )
    return redirect("members", project_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    """Ask for confirmation on GET, remove the member on POST."""
    actor = membership(request.user, project_id)
    target = _member_for(actor, pk)
    names = {"person": display_name(target.user), "project": actor.project.name}
    if request.method != "POST":
        return render_confirmation(
            request,
            actor,
            Confirmation(
                title=_("Remove %(person)s from %(project)s?") % names,
                text=_(
                    "The person has no access from the next request on. Views, notes and API keys"
                    " that the person created stay; open invitations by the person are revoked."
                ),
                button=_("Remove member"),
                keep=_("Keep member"),
                action=reverse("remove_member", args=[project_id, pk]),
            ),
        )
    if _is_done(request, actor, partial(members.remove, actor, target)):
        messages.success(request, _("%(person)s was removed") % names)
    return redirect("members", project_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def leave(request: HttpRequest, project_id: str) -> HttpResponse:
    """Ask for confirmation on GET, leave the project on POST."""
    member = membership(request.user, project_id)
    names = {"project": member.project.name}
    if request.method != "POST":
        is_last = members.is_last_owner(member)
        return render_confirmation(
            request,
            member,
            Confirmation(
                title=_("Leave %(project)s?") % names,
                text=str(LastOwner(member.project))
                if is_last
                else _("You need another invitation to come back. What you created stays."),
                button="" if is_last else _("Leave project"),
                keep=_("Stay"),
                action=reverse("leave_project", args=[project_id]),
            ),
        )
    if not _is_done(request, member, partial(members.leave, member)):
        return redirect("members", project_id)
    messages.success(request, _("You left %(project)s") % names)
    return redirect("home")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def transfer(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    """Ask for confirmation on GET, transfer the ownership on POST."""
    actor = membership(request.user, project_id)
    target = _member_for(actor, pk)
    names = {"person": display_name(target.user), "project": actor.project.name}
    if request.method != "POST":
        return render_confirmation(
            request,
            actor,
            Confirmation(
                title=_("Transfer %(project)s to %(person)s?") % names,
                text=_(
                    "%(person)s becomes owner, and you become admin. Only an owner can give the"
                    " project back."
                )
                % names,
                button=_("Transfer project"),
                keep=_("Keep ownership"),
                action=reverse("transfer_project", args=[project_id, pk]),
            ),
        )
    if _is_done(request, actor, partial(members.transfer, actor, target)):
        messages.success(request, _("%(person)s is now owner; you are admin") % names)
    return redirect("members", project_id)


def _is_done(request: HttpRequest, actor: Member, change: Callable[..., None]) -> bool:
    """Make a change; return False if it is not possible any longer, which a message explains.

    Raise PermissionDenied if it is beyond the actor's role.
    """
    try:
        change(origin=Origin.from_request(request))
    except PermissionNeeded as needed:
        require_permission(actor, needed.permission)
        messages.warning(request, _("Your role was changed meanwhile."))
        return False
    except (MemberChanged, LimitReached) as error:
        messages.warning(request, str(error))
        return False
    return True


def _member_for(actor: Member, pk: int) -> Member:
    """Return a member of the same project; raise Http404 if there is none."""
    rows = Member.objects.select_related("user", "project")
    target = rows.filter(project=actor.project, pk=pk).first()
    if target is None:
        raise Http404(_("There is no such member in this project, or the person was removed."))
    return target
