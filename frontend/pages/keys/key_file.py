"""`/p/<project>/settings/keys/<key>/file`: download a key file for Cloud Profiler's agents."""

import json
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from frontend.http.fragments import wants_fragment
from frontend.pages.keys.view import find_key
from projects.access import membership
from projects.account_limits import LimitReached
from projects.audit import Origin
from projects.credentials import key_files
from projects.credentials.key_files import KeyFileKind
from projects.models import User


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def download(request: HttpRequest, project_id: str, key_id: str) -> HttpResponse:
    """Explain key files on GET; create one and send it on POST, with `kind` of KeyFileKind.

    The server keeps no private key, so that the same file cannot be sent again.
    """
    member = membership(request.user, project_id)
    key = find_key(member.project, key_id)
    context = {"project": member.project, "here": "settings", "key": key}
    if request.method != "POST":
        part = "key_file_dialog.html" if wants_fragment(request) else "key_file.html"
        return render(request, f"frontend/keys/{part}", context)
    kind = KeyFileKind.NODE if request.POST.get("kind") == "node" else KeyFileKind.STANDARD
    try:
        content = key_files.create(
            key, kind, actor=cast("User", request.user), origin=Origin.from_request(request)
        )
    except LimitReached as reached:
        context["error"] = str(reached)
        return render(request, "frontend/keys/key_file.html", context, status=400)
    name = f"flamewatch-{project_id}-{content['private_key_id'][:8]}.json"
    return HttpResponse(
        json.dumps(content, indent=2) + "\n",
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
