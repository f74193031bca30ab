"""`/projects/new`: form for a new project, with a preview of its id."""

from typing import cast

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from endpoints.params import parameter
from endpoints.params.reader import LenientReader
from projects.account_limits import LimitReached
from projects.models import User
from projects.project_ids import create_project, suggest

_LONGEST_NAME = 100
NAME = parameter.text("name", "Name of a project", _LONGEST_NAME)


class NewProjectForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=_LONGEST_NAME,
        help_text=_("One per team or product. You can rename it later; its ID does not change."),
    )


@login_required
def new_project(request: HttpRequest) -> HttpResponse:
    form = NewProjectForm(request.POST or None)
    if form.is_valid():
        try:
            project = create_project(form.cleaned_data["name"], cast("User", request.user))
        except LimitReached as reached:
            form.add_error(None, str(reached))
        else:
            return redirect("setup", project.project_id)
    return render(request, "frontend/home/new_project.html", {"form": form})


@login_required
@require_safe
def suggested_id(request: HttpRequest) -> HttpResponse:
    """Render the fragment with the id that a project of the typed name would get."""
    name = LenientReader.of_query(request.GET).read(NAME).strip()
    context = {"suggested": suggest(name) if name else ""}
    return render(request, "frontend/home/suggested_id.html", context)
