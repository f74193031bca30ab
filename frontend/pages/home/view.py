"""`/` and `/p/<project>`: redirects to the services page, or to the form for a new project."""

from typing import cast

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from projects.access import list_projects, project_for
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.models import User
from projects.project_ids import create_project, suggest

_MAX_NAME_CHARACTERS = 100
NAME = parameter.text("name", "Name of a project", _MAX_NAME_CHARACTERS)


def home(request: HttpRequest) -> HttpResponse:
    projects = list_projects(cast("User", request.user))
    if not projects:
        return redirect("new_project")
    return redirect("services", projects[0].project_id)


def project(request: HttpRequest, project_id: str) -> HttpResponse:
    return redirect("services", project_for(request.user, project_id).project_id)


class NewProjectForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=_MAX_NAME_CHARACTERS,
        help_text=_("One per team or product. You can rename it later; its ID does not change."),
    )


def new_project(request: HttpRequest) -> HttpResponse:
    form = NewProjectForm(request.POST or None)
    if form.is_valid():
        try:
            project = create_project(
                form.cleaned_data["name"],
                cast("User", request.user),
                origin=Origin.from_request(request),
            )
        except LimitReached as reached:
            form.add_error(None, str(reached))
        else:
            return redirect("setup", project.project_id)
    return render(request, "frontend/home/new_project.html", {"form": form})


@require_safe
def suggest_id(request: HttpRequest) -> HttpResponse:
    """Render the fragment with the id that a project of the typed name would get."""
    name = LenientReader.from_query(request.GET).read(NAME).strip()
    context = {"suggested": suggest(name) if name else ""}
    return render(request, "frontend/home/suggested_id.html", context)
