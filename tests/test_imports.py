"""Imports point one way: frontend | ingest → profiles | scheduler → projects → common."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
APPS = {"common", "frontend", "ingest", "profiles", "scheduler", "projects", "profiler_site"}
MAY_IMPORT = {
    "common": set(),
    "frontend": {"common", "profiles", "scheduler", "projects"},
    "ingest": {"common", "profiles", "scheduler", "projects"},
    "profiles": {"common", "projects"},
    "scheduler": {"common", "projects"},
    "projects": {"common"},
    "profiler_site": APPS,
}
SOURCES = [path for app in sorted(APPS) for path in sorted((ROOT / app).rglob("*.py"))]


def imported(path: Path) -> set[str]:
    """Dotted names of the modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_it_imports_only_what_its_app_may(path: Path) -> None:
    app = path.relative_to(ROOT).parts[0]
    ours = {name.split(".")[0] for name in imported(path)} & APPS
    assert ours <= MAY_IMPORT[app] | {app}


def test_the_engine_knows_neither_us_nor_django() -> None:
    for path in (ROOT / "profiles" / "engine").rglob("*.py*"):
        if path.suffix not in {".py", ".pyx", ".pxi"}:
            continue
        text = path.read_text()
        if path.suffix == ".py":
            foreign = {
                name
                for name in imported(path)
                if name.split(".")[0] in APPS | {"django", "rest_framework", "celery"}
                and not name.startswith("profiles.engine")
                and name != "profiles"
            }
            assert not foreign, path
        else:
            assert "django" not in text, path


def test_pages_import_only_the_query_and_the_addresses_of_profiles() -> None:
    allowed = (
        "profiles.query",
        "profiles.addresses",
        "profiles.engine.metrics",
        "profiles.engine.columns",
    )
    for path in (ROOT / "frontend").rglob("*.py"):
        ours = {name for name in imported(path) if name.split(".")[0] == "profiles"}
        assert all(name.startswith(allowed) for name in ours), path


def test_agents_import_nothing_of_the_server() -> None:
    for path in (ROOT / "agents" / "python").rglob("*.py"):
        assert not {name.split(".")[0] for name in imported(path)} & APPS, path


def test_the_policy_is_pure() -> None:
    impure = {"time", "random", "socket", "asyncio", "django", "redis", "datetime"}
    for name in ("policy.py", "slots.py"):
        path = ROOT / "scheduler" / name
        if path.exists():
            assert not {module.split(".")[0] for module in imported(path)} & impure, path
