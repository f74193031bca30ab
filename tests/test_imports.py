"""Import rules: the contracts of pyproject.toml, and rules that import-linter cannot express."""

import ast
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from tests.paths import ROOT

APPS = {"api", "common", "endpoints", "frontend", "ingest", "profiler_site", "profiles"} | {
    "projects",
    "scheduler",
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("frontend", "profiles", cache_dir=None)


def is_within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def imports_between(graph: grimp.ImportGraph, importer: str, imported: str) -> set[tuple[str, str]]:
    """List the (importing, imported) modules between two packages, descendants included."""
    return {
        (module, name)
        for module in {importer, *graph.find_descendants(importer)}
        for name in graph.find_modules_directly_imported_by(module)
        if is_within(name, (imported,))
    }


def test_the_contracts_of_pyproject_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_engine_imports_nothing_else_of_profiles(graph: grimp.ImportGraph) -> None:
    found = imports_between(graph, "profiles.engine", "profiles")
    assert found
    assert {pair for pair in found if not is_within(pair[1], ("profiles.engine",))} == set()


def test_cython_sources_of_the_engine_do_not_mention_django() -> None:
    sources = sorted((ROOT / "profiles" / "engine").rglob("*.p[yx][xdi]"))
    assert sources
    assert [path for path in sources if "django" in path.read_text()] == []


def test_agents_import_nothing_of_the_server() -> None:
    sources = sorted((ROOT / "agents" / "python").rglob("*.py"))
    assert sources
    for path in sources:
        assert not {name.split(".")[0] for name in imported_names(path)} & APPS, path


def imported_names(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names
