"""Confirmation of an action on members, as a dialog for htmx and as a page without."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from frontend.http.fragments import wants_fragment
from projects.models import Member


@dataclass(frozen=True, slots=True)
class Confirmation:
    title: str
    text: str  # consequences
    button: str  # "" if the action is not possible, which the text explains
    keep: str  # label of the button that changes nothing
    action: str  # path that the form posts to


def render_confirmation(
    request: HttpRequest, member: Member, confirmation: Confirmation
) -> HttpResponse:
    context = {"project": member.project, "here": "settings", "confirmation": confirmation}
    part = "confirm_dialog.html" if wants_fragment(request) else "confirm.html"
    return render(request, f"frontend/members/{part}", context)
