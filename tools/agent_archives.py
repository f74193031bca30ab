"""Pack the Go, Node.js and Java agents in the forms in which they are installed.

The Go agent becomes the files of a module proxy (https://go.dev/ref/mod#goproxy-protocol), the
Node.js agent an npm package, the Java agent a jar. Equal sources give equal bytes; the jar's
classes depend on the compiler too.
"""

import gzip
import io
import json
import re
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

GO_MODULE = "flamewatch.dev/agent"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can have
_GO_VERSION = re.compile(r'^const Version = "([0-9]+\.[0-9]+\.[0-9]+)"$', re.MULTILINE)
_JAVA_VERSION = re.compile(r"^  <version>([0-9]+\.[0-9]+\.[0-9]+)</version>$", re.MULTILINE)
_LICENSE = "LICENSE"
JAVA_RELEASE = "17"


def pack_go(source: Path, license_file: Path, target: Path) -> None:
    """Write go-v<version>.info, .mod and .zip into the folder `target`."""
    found = _GO_VERSION.search((source / "client.go").read_text())
    if found is None:
        raise ValueError(f"{source / 'client.go'} has no `const Version`")
    version = f"v{found[1]}"
    base = target / f"go-{version}"
    info = {"Version": version, "Time": "1980-01-01T00:00:00Z"}
    Path(f"{base}.info").write_text(json.dumps(info))
    Path(f"{base}.mod").write_bytes((source / "go.mod").read_bytes())
    prefix = f"{GO_MODULE}@{version}/"
    with zipfile.ZipFile(f"{base}.zip", "w") as archive:
        for name, content in _files(source, license_file, ("*.go", "go.mod", "README.md")):
            entry = zipfile.ZipInfo(prefix + name, _EPOCH)
            archive.writestr(entry, content, compress_type=zipfile.ZIP_DEFLATED)


def pack_node(source: Path, license_file: Path, target: Path) -> None:
    """Write flamewatch-agent-<version>.tgz into the folder `target`."""
    package = json.loads((source / "package.json").read_text())
    name = f"{package['name']}-{package['version']}.tgz"
    patterns = ("lib/*.js", "index.d.ts", "package.json", "README.md")
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for path, content in _files(source, license_file, patterns):
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    (target / name).write_bytes(gzip.compress(tar.getvalue(), mtime=0))


def pack_java(source: Path, license_file: Path, target: Path) -> None:
    """Compile the Java agent by the JDK's javac, and write it as the jar `target`.

    Raise FileNotFoundError without a JDK, and subprocess.CalledProcessError if compiling fails.
    """
    manifest = (
        "Manifest-Version: 1.0\n"
        "Premain-Class: dev.flamewatch.agent.Agent\n"
        "Agent-Class: dev.flamewatch.agent.Agent\n\n"
    )
    sources = sorted(map(str, source.glob("src/main/java/**/*.java")))
    with tempfile.TemporaryDirectory(prefix="flamewatch-classes-") as folder:
        command = [
            "javac",
            "--release",
            JAVA_RELEASE,
            "-Xlint:all",
            "-Werror",
            "-d",
            folder,
            *sources,
        ]
        subprocess.run(command, check=True, capture_output=True, text=True)
        classes = sorted(Path(folder).glob("**/*.class"))
        entries = [("META-INF/MANIFEST.MF", manifest.encode())]
        entries += [("META-INF/LICENSE", license_file.read_bytes())]
        entries += [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in classes]
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in entries:
            entry = zipfile.ZipInfo(name, _EPOCH)
            archive.writestr(entry, content, compress_type=zipfile.ZIP_DEFLATED)


def java_version(source: Path) -> str:
    found = _JAVA_VERSION.search((source / "pom.xml").read_text())
    if found is None:
        raise ValueError(f"{source / 'pom.xml'} has no version")
    return found[1]


def _files(
    source: Path, license_file: Path, patterns: Iterable[str]
) -> Iterable[tuple[str, bytes]]:
    """Yield the relative path and the content of each file to pack, tests left out."""
    paths = {path for pattern in patterns for path in source.glob(pattern)}
    for path in sorted(paths):
        if not path.name.endswith("_test.go"):
            yield path.relative_to(source).as_posix(), path.read_bytes()
    yield _LICENSE, license_file.read_bytes()
