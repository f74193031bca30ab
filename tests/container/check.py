"""Build the Containerfile without a container engine, and run the result.

`make container-check` runs this. A plain Debian root, made by debootstrap, stands for the base
image. The instructions are executed in it by chroot; then the image's command runs as its user, on
a read-only root with one volume, and its pages are requested. Needs root, two minutes of CPU time
(13 minutes of wall time on a busy machine) and 1.5 GB of temporary files.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.container.chroot import ChrootCommandFailed, Root, copy_installer_configuration
from tests.container.containerfile import (
    CONTAINERFILE,
    IGNORE_FILE,
    Instruction,
    Stage,
    context_files,
    ignore_patterns,
    parse,
)
from tests.paths import ROOT
from tests.services import free_port
from tools import cross_wheels

# Debian release of the base image, which has Python 3.13 too.
SUITE, PYTHON = "trixie", "python:3.13-slim-trixie"
PACKAGES = "ca-certificates,python3,python3-dev,python3-venv"
BASE_SECONDS, RUN_SECONDS, START_SECONDS, STOP_SECONDS = 600, 900, 90, 15
PORT = "8000"
PAGES = ("/ok", "/ready", "/account/login/", "/help/concepts", "/agents/python/")
# The image serves agents for other systems than its own: wheels, Go, Node.js and Java.
AGENT_FILES = (
    *(f"flamewatch_agent-*-{target.tag}.whl" for target in cross_wheels.TARGETS),
    *("flamewatch_agent-*.tar.gz", "setuptools-*.whl"),
    *("go-v*.zip", "flamewatch-agent-*.tgz", "flamewatch-agent-*.jar"),
)


class CheckFailed(Exception):
    """Failure to build or run the image; the text has the reason."""


def main(arguments: list[str]) -> int:
    """Check the image; an argument is the folder of the Debian root of an earlier run."""
    if os.geteuid() != 0:
        sys.exit("The check changes root folders: run it as root (make container-check).")
    if shutil.which("debootstrap") is None:
        sys.exit("debootstrap is missing: apt-get install debootstrap")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="flamewatch-container-") as scratch:
        base = Path(arguments[0]) if arguments else Path(scratch) / "base"
        try:
            if not arguments:
                make_base(base)
            check(base, Path(scratch))
        except (CheckFailed, ChrootCommandFailed, OSError, subprocess.SubprocessError) as failure:
            print(f"container-check failed: {failure}", file=sys.stderr)
            return 1
    print(f"The image builds and serves ({time.monotonic() - began:.0f} s).")
    return 0


def make_base(folder: Path) -> None:
    """Install a minimal Debian with the base image's version of Python."""
    command = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"]
    sites = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    mirrors = [site.rstrip("/") for site in sites if site.rstrip("/").endswith("/debian")]
    mirror = os.environ.get("DEBIAN_MIRROR") or next(iter(mirrors), "")
    if not mirror:
        raise CheckFailed("apt has no mirror of Debian: name one in DEBIAN_MIRROR")
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(folder)]
    subprocess.run([*command, mirror], check=True, stdout=subprocess.DEVNULL, timeout=BASE_SECONDS)


def check(base: Path, scratch: Path) -> None:
    roots: dict[str, Root] = {}
    stages = parse(CONTAINERFILE.read_text())
    for number, stage in enumerate(stages):
        if stage.base != PYTHON:
            raise CheckFailed(f"the base image {stage.base} is not {PYTHON}: change this check")
        name = stage.name or str(number)
        roots[name] = Root(scratch / name)
        _build(stage, roots[name], base, roots)
    _serve(stages[-1], roots[name], scratch)


def _build(stage: Stage, root: Root, base: Path, roots: Mapping[str, Root]) -> None:
    subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(root.folder)], check=True)
    copy_installer_configuration(root.folder)
    (root.folder / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    for instruction in stage.instructions:
        print(f"{stage.name or 'image'}: {instruction.name} {instruction.text[:70]}", flush=True)
        _execute(instruction, root, roots)


def _execute(instruction: Instruction, root: Root, roots: Mapping[str, Root]) -> None:
    match instruction.name:
        case "ENV":
            root.environment |= dict(word.split("=", 1) for word in instruction.words())
        case "WORKDIR":
            root.workdir = instruction.text
            root.resolve(".").mkdir(parents=True, exist_ok=True)
        case "USER":
            root.user = instruction.text
        case "COPY":
            _copy(instruction.words(), root, roots)
        case "RUN":
            root.run(instruction.text, RUN_SECONDS)
        case "VOLUME" | "EXPOSE" | "STOPSIGNAL" | "HEALTHCHECK" | "CMD":
            pass  # instructions for the running container, which _serve reads
        case unknown:
            raise CheckFailed(f"the instruction {unknown} is new: add it to this check")


def _copy(words: list[str], root: Root, roots: Mapping[str, Root]) -> None:
    if words[0].startswith("--from="):
        source = roots[words[0].removeprefix("--from=")].folder / words[1].lstrip("/")
        target = root.resolve(words[2])
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", str(source), str(target)], check=True)
        return
    files = context_files(ROOT, ignore_patterns(IGNORE_FILE.read_text()))
    for name in files if words[0] == "." else [words[0]]:
        target = root.resolve(name if words[0] == "." else words[1])
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)


def _serve(stage: Stage, root: Root, scratch: Path) -> None:
    """Start the image's command on a read-only root, as its user, and request its pages."""
    _check_agents(root.folder / "opt" / "agents")
    volume, port = scratch / "volume", str(free_port())
    volume.mkdir()
    os.chown(volume, *map(int, root.user.split(":")))
    root.environment["FLAMEWATCH_URL"] = f"http://127.0.0.1:{port}"
    command = [port if word == PORT else word for word in stage.last("CMD").words()]
    line = root.command(command, read_only=True, volumes={"/data": volume})
    with (scratch / "log").open("wb") as log:
        process = subprocess.Popen(line, stdout=log, stderr=log)
    with _killed(process):
        try:
            _check_running(stage, root, process, port)
        except Exception:
            print((scratch / "log").read_text()[-4000:])
            raise
    size = _megabytes(root.folder / "app") + _megabytes(root.folder / "opt")
    print(f"The image adds {size} MB to its base image.")


def _check_agents(folder: Path) -> None:
    lacking = [pattern for pattern in AGENT_FILES if not [*folder.glob(pattern)]]
    if lacking:
        raise CheckFailed(f"the image does not serve these agents: {', '.join(lacking)}")
    unsafe = [path.name for path in folder.glob("*-linux_*.whl")]
    if unsafe:
        raise CheckFailed(f"pip would install these wheels with any C library: {unsafe}")


def _check_running(stage: Stage, root: Root, process: "subprocess.Popen[bytes]", port: str) -> None:
    url = f"http://127.0.0.1:{port}"
    _wait_until_it_responds(f"{url}/ok", process)
    for page in PAGES:
        with urllib.request.urlopen(url + page, timeout=20) as response:
            print(f"{page}: {response.status}")
    server = _child(process.pid)
    user = Path(f"/proc/{server}").stat().st_uid
    if user == 0 or user != int(root.user.split(":")[0]):
        raise CheckFailed(f"the server runs as user {user}, not as {root.user}")
    health = stage.last("HEALTHCHECK").text.partition("CMD ")[2].replace(PORT, port)
    line = root.command(Instruction("CMD", health).words(), read_only=True)
    subprocess.run(line, check=True, timeout=20)
    os.kill(server, signal.SIGTERM)
    status = process.wait(STOP_SECONDS)
    if status:
        raise CheckFailed(f"the server ended with status {status} on SIGTERM")


def _wait_until_it_responds(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise CheckFailed(f"the server ended with status {process.returncode}")
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=5).close()
            return
        time.sleep(0.2)
    raise CheckFailed(f"{url} did not respond within {START_SECONDS} s")


@contextlib.contextmanager
def _killed(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Kill the process at the end of the block, whatever happens inside."""
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _megabytes(folder: Path) -> int:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return round(sum(path.stat().st_size for path in files) / 1e6)


if __name__ == "__main__":
    # Exit through the context managers, which end processes and delete the roots.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main(sys.argv[1:]))
