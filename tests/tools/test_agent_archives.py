"""Packages of the Go and the Node.js agent, as `go get` and `npm install` fetch them."""

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.paths import ROOT
from tools.agent_archives import GO_MODULE, java_version, pack_go, pack_java, pack_node

GO, NODE, LICENSE = ROOT / "agents" / "go", ROOT / "agents" / "node", ROOT / "LICENSE"


def test_the_go_module_has_the_files_of_a_module_proxy(tmp_path: Path) -> None:
    pack_go(GO, LICENSE, tmp_path)
    (info,) = tmp_path.glob("*.info")
    version = json.loads(info.read_text())["Version"]
    assert (tmp_path / f"go-{version}.mod").read_text().startswith(f"module {GO_MODULE}\n")
    with zipfile.ZipFile(tmp_path / f"go-{version}.zip") as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    assert all(name.startswith(f"{GO_MODULE}@{version}/") for name in names)
    assert {Path(name).name for name in names} >= {"agent.go", "go.mod", "LICENSE"}
    assert not [name for name in names if name.endswith("_test.go") or "/example/" in name]


def test_the_nodejs_package_has_the_files_that_its_manifest_names(tmp_path: Path) -> None:
    pack_node(NODE, LICENSE, tmp_path)
    (package,) = tmp_path.glob("*.tgz")
    with tarfile.open(package) as archive:
        names = archive.getnames()
        manifest = archive.extractfile("package/package.json")
        assert manifest
        declared = json.loads(manifest.read())
    assert package.name == f"{declared['name']}-{declared['version']}.tgz"
    for path in (declared["main"], declared["types"], "lib/start.js", "LICENSE"):
        assert f"package/{path}" in names
    assert not [name for name in names if "test" in name]


def test_equal_sources_give_equal_bytes(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        pack_go(GO, LICENSE, folder)
        pack_node(NODE, LICENSE, folder)
    first, second = (
        {path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders
    )
    assert first == second


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_missing_version_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "client.go").write_text("package flamewatch\n")
    with pytest.raises(ValueError, match="const Version"):
        pack_go(tmp_path, LICENSE, tmp_path)


def test_archives_are_readable_by_their_formats(tmp_path: Path) -> None:
    pack_node(NODE, LICENSE, tmp_path)
    (package,) = tmp_path.glob("*.tgz")
    with tarfile.open(fileobj=io.BytesIO(package.read_bytes()), mode="r:gz") as archive:
        assert {member.mode for member in archive} == {0o644}


@pytest.mark.slow
def test_the_jar_names_its_agent_class(tmp_path: Path) -> None:
    jar = tmp_path / f"flamewatch-agent-{java_version(ROOT / 'agents' / 'java')}.jar"
    pack_java(ROOT / "agents" / "java", LICENSE, jar)
    with zipfile.ZipFile(jar) as archive:
        manifest = archive.read("META-INF/MANIFEST.MF").decode()
        assert "Premain-Class: dev.flamewatch.agent.Agent\n" in manifest
        assert archive.namelist()[0] == "META-INF/MANIFEST.MF"
        assert "dev/flamewatch/agent/Agent.class" in archive.namelist()


def test_version_of_the_java_agent_is_that_of_its_build() -> None:
    java = ROOT / "agents" / "java"
    client = (java / "src/main/java/dev/flamewatch/agent/Client.java").read_text()
    assert f'String VERSION = "{java_version(java)}";' in client
