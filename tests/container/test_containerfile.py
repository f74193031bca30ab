"""Checks of the container files that need no image."""

import re
import tomllib

import pytest

from frontend.pages.help.concepts import FILES
from tests.container.containerfile import (
    CONTAINERFILE,
    IGNORE_FILE,
    context_files,
    ignore_patterns,
    is_ignored,
    parse,
)
from tests.paths import ROOT

STAGES = parse(CONTAINERFILE.read_text())
COMPOSE = (ROOT / "compose.yaml").read_text()


def test_the_image_runs_as_a_numbered_user_that_is_not_root() -> None:
    # The user is a number, because Kubernetes cannot verify that a named user is not root.
    assert STAGES[-1].last("USER").text == "10001:10001"


def test_images_are_named_without_a_host() -> None:
    images = [stage.base for stage in STAGES] + re.findall(r"^ +image: (\S+)$", COMPOSE, re.M)
    assert len(images) > 4
    assert [image for image in images if "." in image.partition("/")[0].partition(":")[0]] == []


def test_the_image_has_what_the_server_reads_and_no_more() -> None:
    names = context_files(ROOT, ignore_patterns(IGNORE_FILE.read_text()))
    folders = {name.partition("/")[0] for name in names if "/" in name}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["setuptools"]["packages"]["find"]["include"]
    apps = {package.removesuffix("*") for package in packages}
    assert apps | {"agents", "docs", "requirements"} <= folders
    assert folders & {"tests", "benchmarks", "examples", "node_modules", "data"} == set()
    assert {f"docs/guide/{name}" for name in FILES.values()} <= set(names)
    sampler = {
        path.relative_to(ROOT).as_posix() for path in ROOT.glob("agents/python/native/**/*.c")
    }
    assert sampler
    assert sampler <= set(names)
    assert not any("/tests/" in name for name in names)


def test_compose_names_only_variables_of_the_example() -> None:
    example = dict(
        line.split("=", 1)
        for line in (ROOT / "compose.env.example").read_text().splitlines()
        if line and not line.startswith("#")
    )
    assert {"FLAMEWATCH_SECRET_KEY", "DATABASE_URL", "REDIS_URL", "BLOB_URL"} <= example.keys()
    assert example["POSTGRES_PASSWORD"] in example["DATABASE_URL"]
    assert example["AWS_SECRET_ACCESS_KEY"] == example["ROOT_SECRET_KEY"]


def test_a_containerfile_is_read_by_stages() -> None:
    build, image = parse('# a\nFROM one AS build\nRUN a \\\n    && b\nFROM two\nCMD ["x", "y z"]\n')
    assert (build.base, build.name, image.base, image.name) == ("one", "build", "two", "")
    assert build.last("RUN").text == "a && b"
    assert image.last("CMD").words() == ["x", "y z"]


@pytest.mark.parametrize(
    ("path", "ignored"),
    [
        (".git/config", True),
        ("a/b/tests/c.py", True),
        ("tests/c.py", True),
        ("a.c", True),
        ("native/a.c", False),
        ("a/data", False),
        ("data/x", True),
    ],
)
def test_the_last_pattern_that_matches_decides(path: str, ignored: bool) -> None:
    patterns = [".*", "**/tests", "**/*.c", "!native/*.c", "data"]
    assert is_ignored(path, patterns) == ignored
