"""Links from lines to a repository, by the owner's link template."""

import json
from pathlib import Path

import pytest

from frontend.components.functions.source_links import SourceLinks, source_links
from projects.models import Project, User
from projects.source_templates import InvalidLinkTemplate, check_editor_pattern, check_pattern

PATTERN = "https://git.example.org/shop/blob/{version}/{file}#L{line}"


def _links(source: str = "", root: str = "", editor: str = "", version: str = "1") -> SourceLinks:
    project = Project(project_id="acme-shop", source_url=source, source_root=root)
    return source_links(project, User(editor_url=editor), version)


def test_a_link_has_file_line_and_version() -> None:
    link = _links(PATTERN, "/app/", version="2.31.0").source("/app/shop/tax.py", 12)
    assert link == "https://git.example.org/shop/blob/2.31.0/shop/tax.py#L12"


def test_names_are_escaped_in_links() -> None:
    link = _links(PATTERN, version="../../evil").source('a b/"><x>?#{line}.py', 3)
    assert link == (
        "https://git.example.org/shop/blob/..%2F..%2Fevil/a%20b/%22%3E%3Cx%3E%3F%23%7Bline%7D.py#L3"
    )


@pytest.mark.parametrize(
    ("pattern", "prefix", "file"),
    [
        ("", "", "/app/a.py"),
        (PATTERN, "", ""),
        (PATTERN, "", "[build-id 3f2a9c51]"),
        (PATTERN, "/app/", "/usr/lib/python3.11/json/__init__.py"),
        ("javascript:alert({file})", "", "/app/a.py"),
    ],
)
def test_without_a_target_there_is_no_link(pattern: str, prefix: str, file: str) -> None:
    assert _links(pattern, prefix).source(file, 1) == ""


@pytest.mark.parametrize(
    "pattern",
    [
        "javascript:alert(1)//{file}",
        "//git.example.org/{file}",
        "https://git.example.org/",
        "https://git.example.org/{file}/{secret}",
        "https://git.example.org/{file.__class__}",
        "https://git.example.org/{file}{",
        "https://git.example.org/{file:>999999999}",
        "https://git.example.org/{file}/{0}",
    ],
)
def test_an_invalid_pattern_is_rejected(pattern: str) -> None:
    with pytest.raises(InvalidLinkTemplate):
        check_pattern(pattern)


EDITOR = "vscode://file/home/mara/{project}/{path}:{line}"
SHARED = json.loads((Path(__file__).parent / "source_links.json").read_text())["links"]


@pytest.mark.parametrize(("pattern", "prefix", "file", "line", "expected"), SHARED)
def test_server_and_browser_give_the_same_links(
    pattern: str, prefix: str, file: str, line: int, expected: str
) -> None:
    """The browser's module passes the same cases (static/flame-graph/graph/source.js)."""
    if "{file}" in pattern:
        assert _links(pattern, prefix, version="v/2.31.0").source(file, line) == expected
    else:
        assert _links(root=prefix, editor=pattern).editor(file, line) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        EDITOR,
        "vscode-insiders://file/{path}",
        "idea://open?file=/src/{path}&line={line}",
        "jetbrains://idea/navigate/reference?project=shop&path={path}:{line}",
        "http://localhost:63342/api/file/{path}:{line}",
        *(f"{scheme}://x/{{path}}" for scheme in ("cursor", "zed", "subl", "txmt", "https")),
    ],
)
def test_a_pattern_of_an_editor_is_accepted(pattern: str) -> None:
    check_editor_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "javascript:alert(1)//{path}",
        "javascript://%0aalert({path})",
        "JavaScript://x/{path}",
        " javascript://x/{path}",
        "java\nscript://x/{path}",
        "data:text/html,{path}",
        "data://text/html,{path}",
        "file:///{path}",
        "vbscript://{path}",
        "blob:https://x/{path}",
        "//x/{path}",
        "{path}",
        "vscode:{path}",
        "vscode://file/",
        "vscode://file/{path}\t",
        "vscode://file/{path}/{version}",
        "vscode://file/{path.__class__}",
        "vscode://file/{path:>999999999}",
        "vscode://file/{path!r}",
        "vscode://file/{",
        "https:///{path}",
        "https://{path}",
    ],
)
def test_a_dangerous_or_broken_pattern_is_rejected(pattern: str) -> None:
    with pytest.raises(InvalidLinkTemplate):
        check_editor_pattern(pattern)
    assert _links(editor=pattern).editor("/app/a.py", 1) == ""
