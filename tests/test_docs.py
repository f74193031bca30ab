"""Documentation: links work, and everything that the code offers is documented."""

import re
import subprocess
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from api.management.routes import RESOURCES, route
from api.resources.value_queries import ValueQuery
from api.urls import urlpatterns
from endpoints.params.parameter import Family, Parameter, Repeated
from frontend.params.url_parameter import url_parameters
from profiler_site.cli import command
from projects.permissions import ROLES, role_table
from tests.paths import ROOT

DOCS = ROOT / "docs"
MAX_LINE = 200  # characters, except in tables and code
# Modules that declare URL parameters of the query API and of pages.
API = (
    *("endpoints.credentials", "endpoints.params.selection", "endpoints.params.view"),
    "endpoints.params.lists",
    *(
        f"api.resources.{name}"
        for name in ("deployments", "pgo", "profiles", "top", "value_queries")
    ),
)
PAGES_OF_SITE = (
    *("frontend.params.page_params", "frontend.params.list_params"),
    *(
        f"frontend.pages.{path.parent.name}.params"
        for path in sorted((ROOT / "frontend" / "pages").glob("*/params.py"))
    ),
)

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_INLINE_CODE = re.compile(r"`[^`\n]+`")
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_DOCS_PATH = re.compile(r"\bdocs/[\w./-]*\w")
_SETTING = re.compile(r'"(FLAMEWATCH_[A-Z_]+|DATABASE_URL|REDIS_URL|BLOB_URL)"')


def tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


PAGES = tracked("*.md")
CODE = tracked("*.py", "*.pyx", "*.pxd", "*.js", "*.html", "*.toml", "*.yaml", "Makefile")


@cache
def prose(page: Path) -> str:
    """Return the text of a page without its fenced code."""
    return _FENCE.sub("", page.read_text())


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub generates them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    )


def settings() -> set[str]:
    """Return the environment variables that the server reads."""
    sources = (
        ROOT / "profiler_site" / name
        for name in (
            "settings.py",
            "configuration/initialization.py",
            "configuration/secret_key.py",
        )
    )
    return {name for path in sources for name in _SETTING.findall(path.read_text())}


def parameters(*modules: ModuleType) -> set[str]:
    """Return the URL parameters that the modules declare or read, as the documentation has them."""
    values = [each for module in modules for each in vars(module).values()]
    classes = [each for each in values if isinstance(each, type) and is_dataclass(each)]
    fields = [each for cls in classes for each in url_parameters(cls).values()]
    tables = [each for each in values if isinstance(each, dict)]
    rows = [row for table in tables for row in table.values() if isinstance(row, ValueQuery)]
    of_rows = [each for row in rows for each in row.parameters.values()]
    declared = [*values, *(each.declaration for each in fields), *of_rows]
    names = {each.name for each in declared if isinstance(each, (Parameter, Repeated))}
    return names | {f"{each.prefix}NAME" for each in declared if isinstance(each, Family)}


def links(page: Path) -> list[str]:
    return _LINK.findall(_INLINE_CODE.sub("code", prose(page)))


def broken_links(page: Path) -> Iterator[str]:
    for target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        if not linked.exists() or (anchor and anchor not in anchors(linked)):
            yield target


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_files_and_headings(name: str) -> None:
    assert list(broken_links(ROOT / name)) == []


def test_a_broken_link_and_a_broken_anchor_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `title`, here\n[1](#a-title-here) [2](#none) [3](none.md) [4](page.md#x)")
    assert list(broken_links(page)) == ["#none", "none.md", "page.md#x"]


@pytest.mark.parametrize("name", PAGES)
def test_lines_are_short_enough_to_review(name: str) -> None:
    lines = prose(ROOT / name).splitlines()
    plain = [line for line in lines if not line.startswith(("|", "    "))]
    assert [line for line in plain if len(line) > MAX_LINE] == []


def test_every_page_of_the_docs_is_linked() -> None:
    """A translation, such as concepts.es.md, is shown by the help of the console instead."""
    linked = {
        (ROOT / page).parent.joinpath(target.partition("#")[0]).resolve()
        for page in PAGES
        for target in links(ROOT / page)
    }
    pages = {path.resolve() for path in DOCS.rglob("*.md") if len(path.suffixes) == 1}
    assert pages - linked == set()


@pytest.mark.parametrize(("page", "names"), [("api", API), ("urls", PAGES_OF_SITE)])
def test_every_parameter_is_documented(page: str, names: tuple[str, ...]) -> None:
    text = (DOCS / "reference" / f"{page}.md").read_text()
    declared = parameters(*(import_module(name) for name in names))
    assert declared
    undocumented = {name for name in declared if not re.search(rf"`{re.escape(name)}[`=]", text)}
    assert undocumented == set()


def test_pages_mentioned_in_the_code_exist() -> None:
    mentioned = {
        (name, path)
        for name in CODE
        for path in _DOCS_PATH.findall((ROOT / name).read_text())
        if path.endswith(".md")
    }
    assert {(name, path) for name, path in mentioned if not (ROOT / path).exists()} == set()


def test_the_guide_has_the_table_of_roles() -> None:
    guide = (DOCS / "guide" / "members.md").read_text()
    words = {True: "yes", False: "no"}
    rows = [
        f"| {row.label} | {' | '.join(words[each] for each in row.allowed)} |"
        for row in role_table()
    ]
    head = f"| permission | {' | '.join(ROLES)} |\n| --- | --- | --- | --- | --- |"
    assert "\n".join(["", head, *rows, ""]) in guide


def test_every_setting_is_in_the_reference() -> None:
    documented = (DOCS / "reference" / "settings.md").read_text()
    assert len(settings()) >= 30
    assert {name for name in settings() if f"`{name}`" not in documented} == set()


def test_settings_of_the_reference_exist() -> None:
    documented = (DOCS / "reference" / "settings.md").read_text()
    rows = set(re.findall(r"^\| `(FLAMEWATCH_[A-Z_]+)`", documented, re.MULTILINE))
    assert rows - settings() == set()


@pytest.mark.parametrize("name", command.ARGUMENTS)
def test_every_command_and_option_is_in_the_reference(name: str) -> None:
    documented = (DOCS / "reference" / "cli.md").read_text()
    section = documented.partition(f"## `flamewatch {name}`\n")[2].partition("\n## ")[0]
    assert section
    parser = ArgumentParser(add_help=False)
    command.ARGUMENTS[name](parser)
    options = [option for action in parser._actions for option in action.option_strings]
    assert [option for option in options if option not in section] == []


def test_every_endpoint_is_in_the_reference() -> None:
    documented = (DOCS / "reference" / "api.md").read_text()
    root = "api/v1/projects/<str:project>/"
    # tests/api/test_docs.py looks up the resources of the management API in its own reference.
    elsewhere = {"api/v1/openapi.json", *(route(resource) for resource in RESOURCES)}
    routes = [str(pattern.pattern) for pattern in urlpatterns]
    paths = [each.removeprefix(root) for each in routes if each not in elsewhere]
    assert paths
    for path in (re.sub(r"<int:(\w+)>", r"{\1}", each) for each in paths):
        line = rf"^(GET|POST|DELETE) /api/v1/projects/{{project}}/{re.escape(path)}$"
        assert re.search(line, documented, re.M), path


@pytest.mark.parametrize("path", sorted((DOCS / "decisions").glob("0*.md")), ids=lambda p: p.stem)
def test_a_decision_has_its_sections_and_is_listed(path: Path) -> None:
    sections = re.findall(r"^## (.+)$", path.read_text(), re.MULTILINE)
    assert sections == ["Context", "Decision", "Consequences", "Alternatives"]
    title = path.read_text().splitlines()[0].partition(". ")[2]
    assert f"[{title}]({path.name})" in (DOCS / "decisions" / "README.md").read_text()
