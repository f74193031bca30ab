"""`/agents/python/`: the agent's sdist and wheel, for `pip install --find-links`; open to all."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from frontend.agent_files import agent_file, agent_files

_FOR_EVER = "public, max-age=31536000, immutable"


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Links with hashes, as pip reads them.

    The address carries the content's hash too: pip keeps what it fetched by address, and a
    file that was built again under the same version must not come from there.
    """
    return render(request, "frontend/agent_files.html", {"files": agent_files()})


@require_safe
def download(request: HttpRequest, name: str) -> HttpResponse:
    file = agent_file(name)
    if file is None:
        raise Http404(_("There is no such file of the agent; /agents/python/ lists them."))
    kind = "application/zip" if file.is_wheel else "application/gzip"
    answer = HttpResponse(file.path.read_bytes(), content_type=kind)
    by_hash = request.GET.get("sha256") == file.sha256
    answer.headers["Cache-Control"] = _FOR_EVER if by_hash else "public, no-cache"
    answer.headers["ETag"] = f'"{file.sha256}"'
    return answer
