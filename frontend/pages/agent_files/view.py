"""`/agents/python/`: public package index of the agent for pip.

`/agents/python/` is a page for `pip install --find-links`. `/agents/python/simple/` is the same as
a package index, in HTML (PEP 503) or JSON (PEP 691).
"""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from frontend.pages.agent_files import archives
from frontend.pages.agent_files.files import PROJECTS, AgentFile, agent_file, agent_files

_IMMUTABLE_CACHE_CONTROL = "public, max-age=31536000, immutable"
_SIMPLE_JSON = "application/vnd.pypi.simple.v1+json"
_SIMPLE_HTML = "application/vnd.pypi.simple.v1+html"
_META = {"api-version": "1.0"}


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """List all files, for `--find-links`."""
    return render(request, "frontend/agent_files.html", {"files": agent_files()})


@require_safe
@vary_on_headers("Accept")
def simple_projects(request: HttpRequest) -> HttpResponse:
    """List the projects that have files on this server."""
    names = [name for name in PROJECTS if agent_files(name)]
    if _wants_json(request):
        projects = [{"name": name} for name in names]
        return JsonResponse({"meta": _META, "projects": projects}, content_type=_SIMPLE_JSON)
    context = {"names": names}
    return render(request, "frontend/agent_projects.html", context, _html_type(request))


@require_safe
@vary_on_headers("Accept")
def simple_project(request: HttpRequest, project: str) -> HttpResponse:
    """List the files of one project, as HTML or JSON by `Accept`; 404 if there are none."""
    files = agent_files(project) if project in PROJECTS else []
    if not files:
        raise Http404(_("No such package on this server. All packages: /agents/python/"))
    if _wants_json(request):
        listed = {
            "meta": _META,
            "name": project,
            "files": [_build_file_entry(file) for file in files],
        }
        return JsonResponse(listed, content_type=_SIMPLE_JSON)
    return render(request, "frontend/agent_files.html", {"files": files}, _html_type(request))


@require_safe
def download(request: HttpRequest, name: str) -> HttpResponse:
    """Serve a file by its name alone, uncached: its content changes with each build."""
    return _content(_file(name), "public, no-cache")


@require_safe
def download_build(request: HttpRequest, digest: str, name: str) -> HttpResponse:
    """Serve one build of a file.

    pip caches by URL, and a file that was rebuilt with the same version must not come from that
    cache, so the URL path contains the file's hash. It is not in the query string, because pip 22.3
    to 23.0 take any `sha256=` of a URL for the file's own hash and verify the file against it.
    """
    file = _file(name)
    if digest != file.digest:
        raise Http404(_("This file was rebuilt. Its new URL: /agents/python/"))
    return _content(file, _IMMUTABLE_CACHE_CONTROL)


@require_safe
def go_module(request: HttpRequest, name: str) -> HttpResponse:
    """Serve the Go agent as a module proxy does: https://go.dev/ref/mod#goproxy-protocol."""
    kinds = {"zip": "application/zip", "info": "application/json"}
    kind = kinds.get(name.rpartition(".")[2], "text/plain; charset=utf-8")
    return _archive(archives.go_file(name), kind)


@require_safe
def java_package(request: HttpRequest, name: str) -> HttpResponse:
    """Serve a jar of the Java agent."""
    return _archive(archives.java_package(name), "application/java-archive")


@require_safe
def node_package(request: HttpRequest, name: str) -> HttpResponse:
    """Serve a package of the Node.js agent, for `npm install URL`."""
    return _archive(archives.node_package(name), "application/gzip")


def _archive(content: bytes | None, kind: str) -> HttpResponse:
    if content is None:
        raise Http404(_("No such agent file."))
    return HttpResponse(content, kind, headers={"Cache-Control": "public, no-cache"})


def _file(name: str) -> AgentFile:
    file = agent_file(name)
    if file is None:
        raise Http404(_("No such agent file. All files: /agents/python/"))
    return file


def _content(file: AgentFile, cache_control: str) -> HttpResponse:
    kind = "application/zip" if file.is_wheel else "application/gzip"
    response = HttpResponse(file.path.read_bytes(), content_type=kind)
    response.headers["Cache-Control"] = cache_control
    response.headers["ETag"] = f'"{file.sha256}"'
    return response


def _wants_json(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", _SIMPLE_HTML, _SIMPLE_JSON]) == _SIMPLE_JSON


def _html_type(request: HttpRequest) -> str:
    """Return the HTML content type of the response: the index's own if the client prefers it."""
    preferred = request.get_preferred_type(["text/html", _SIMPLE_HTML])
    return _SIMPLE_HTML if preferred == _SIMPLE_HTML else "text/html"


def _build_file_entry(file: AgentFile) -> dict[str, object]:
    entry: dict[str, object] = {
        "filename": file.name,
        "url": reverse("agent_file_build", args=[file.digest, file.name]),
        "hashes": {"sha256": file.sha256},
    }
    if file.requires_python:
        entry["requires-python"] = file.requires_python
    return entry
