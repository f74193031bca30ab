"""`/p/<project>/settings/members/invite` and its invitations: create, send again and revoke."""

from collections.abc import Sequence
from typing import cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from frontend.http.fragments import wants_fragment
from frontend.pages.members.confirmation import Confirmation, render_confirmation
from frontend.pages.members.form import InviteForm
from frontend.pages.members.view_model import members_context
from projects import invitations
from projects.access import membership
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.invitations import InvalidInvitation
from projects.models import Invitation, Member, Role, User


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invite(request: HttpRequest, project_id: str) -> HttpResponse:
    """Show the form on GET; on POST invite, and show links that are not mailed once."""
    member = membership(request.user, project_id)
    posted = request.POST if request.method == "POST" else None
    form = InviteForm(posted, inviter=member.role)
    if posted is not None and form.is_valid():
        try:
            made = invitations.create(
                member.project,
                form.cleaned_data["emails"],
                Role(form.cleaned_data["role"]),
                actor=cast("User", request.user),
                origin=Origin.from_request(request),
            )
        except (InvalidInvitation, LimitReached) as error:
            form.add_error(None, str(error))
        else:
            return _show(request, member, made)
    context = {"project": member.project, "here": "settings", "form": form}
    part = "invite_dialog.html" if posted is None and wants_fragment(request) else "invite.html"
    status = 200 if posted is None else 400
    return render(request, f"frontend/members/{part}", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def resend(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    """Issue another link, by e-mail or shown once; GET, such as a reload, shows the members."""
    member = membership(request.user, project_id)
    if request.method != "POST":
        return redirect("members", project_id)
    try:
        row = invitations.resend(
            _invitation_for(member, pk),
            actor=cast("User", request.user),
            origin=Origin.from_request(request),
        )
    except (InvalidInvitation, LimitReached) as error:
        messages.warning(request, str(error))
        return redirect("members", project_id)
    return _show(request, member, [row])


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, project_id: str, pk: int) -> HttpResponse:
    """Ask for confirmation on GET, revoke the invitation on POST."""
    member = membership(request.user, project_id)
    row = _invitation_for(member, pk)
    if request.method != "POST":
        title = _("Revoke the invitation of %(email)s?") % {"email": row.email}
        return render_confirmation(
            request,
            member,
            Confirmation(
                title=title if row.email else _("Revoke this link?"),
                text=_("The link stops working at once. You can invite the person again later."),
                button=_("Revoke invitation"),
                keep=_("Keep invitation"),
                action=reverse("revoke_invitation", args=[project_id, pk]),
            ),
        )
    invitations.revoke(row, actor=cast("User", request.user), origin=Origin.from_request(request))
    messages.success(request, _("Invitation revoked"))
    return redirect("members", project_id)


def _show(request: HttpRequest, member: Member, made: Sequence[Invitation]) -> HttpResponse:
    """Say how many e-mails are sent, or show the links, which is possible only now."""
    if made[0].is_mailed:
        sentence = ngettext(
            "%(count)d invitation is being sent", "%(count)d invitations are being sent", len(made)
        )
        messages.success(request, sentence % {"count": len(made)})
        return redirect("members", member.project.project_id)
    return render(request, "frontend/members/page.html", members_context(member, made))


def _invitation_for(member: Member, pk: int) -> Invitation:
    """Return an open invitation of the project; raise Http404 if there is none."""
    rows = Invitation.objects.filter(project=member.project, used=None, revoked=None)
    row = rows.select_related("project").filter(pk=pk).first()
    if row is None:
        raise Http404(_("There is no such open invitation in this project."))
    return row
