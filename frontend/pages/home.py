"""`/`: on to the person's first project, or to making one."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from projects.access import projects_of
from projects.models import User


@login_required
def home(request: HttpRequest) -> HttpResponse:
    projects = projects_of(cast("User", request.user))
    if not projects:
        return redirect("new_project")
    return redirect("services", projects[0].project_id)
