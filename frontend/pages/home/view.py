"""`/` and `/p/<project>`: redirects to the services page or to the form for a new project."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from projects.access import project_for, projects_of
from projects.models import User


@login_required
def home(request: HttpRequest) -> HttpResponse:
    projects = projects_of(cast("User", request.user))
    if not projects:
        return redirect("new_project")
    return redirect("services", projects[0].project_id)


@login_required
def project(request: HttpRequest, project_id: str) -> HttpResponse:
    return redirect("services", project_for(request.user, project_id).project_id)
