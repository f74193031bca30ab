"""A Go program is compiled with its own profile, which the server has merged."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from profiles.engine.pprof.gunzip import gunzip
from projects.models import Project
from tests import services
from tests.ingest.client import Client
from tests.profiles import rows

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PROGRAM = Path(__file__).parent / "pgo"
CALL = "steps[i%len(steps)].next(value)"


def compile_program(folder: Path, *options: str) -> str:
    """Compile the program, and return what the compiler says of its optimizations."""
    environment = os.environ | {"CGO_ENABLED": "0", "GOCACHE": str(folder.parent / "cache")}
    command = [services.go(), "build", *options, "-gcflags=flamewatch.dev/pgo=-m", "-o", "program"]
    done = subprocess.run(
        [*command, "."], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_compiler_optimizes_the_hot_call_of_a_program_that_has_changed(
    tmp_path: Path, project: Project, reader: Client
) -> None:
    """The function begins 20 lines later than in the program that was profiled."""
    profiled, changed = tmp_path / "profiled", tmp_path / "changed"
    for folder in (profiled, changed):
        shutil.copytree(PROGRAM, folder)
    assert "PGO" not in compile_program(profiled)
    subprocess.run([profiled / "program", "cpu.pprof"], cwd=profiled, check=True, timeout=60)
    of = rows.deployment(project, service="walker")
    for minutes in range(2):
        rows.stored_raw(of, gunzip((profiled / "cpu.pprof").read_bytes(), 2**24), minutes=minutes)
    response = reader.request(
        "GET",
        "/api/v1/projects/-/pgo",
        params={"service": "walker", "from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z"},
    )
    assert response.status_code == 200, response.text
    assert float(response.headers["x-flamewatch-coverage"].removesuffix("%")) > 95
    (changed / "default.pgo").write_bytes(response.content)
    source = (changed / "main.go").read_text()
    moved = source.replace("//go:noinline", "\n" * 20 + "//go:noinline")
    (changed / "main.go").write_text(moved)
    line = next(n for n, text in enumerate(moved.splitlines(), 1) if CALL in text)
    said = compile_program(changed, "-pgo=default.pgo")
    assert re.search(
        rf"main\.go:{line}:\d+: PGO devirtualizing interface call .* usual\.next", said
    )
