"""Commands in a root folder, with their own mounts and processes as in a container engine."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Configuration of this machine's package installers, which commands in the root need too.
_FILES = ("/etc/resolv.conf", "/etc/pip.conf", "/etc/apt/apt.conf.d")
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
_MAX_OUTPUT = 4000  # characters
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class ChrootCommandFailed(Exception):
    """Failed command in a root; the text has the command, its status and its output."""


@dataclass(slots=True)
class Root:
    """Root folder of commands, with the state that earlier instructions set."""

    folder: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": PATH})
    workdir: str = "/"
    user: str = "0:0"

    def resolve(self, path: str) -> Path:
        """Return this machine's path for a path in the root; relative ones start at the workdir."""
        return self.folder / os.path.join(self.workdir, path).lstrip("/")

    def run(self, command: str, seconds: float) -> None:
        """Run a shell command; raise `CommandFailed` with the end of its output if it fails."""
        line = self.command(["/bin/sh", "-ec", command], network_files=True)
        done = subprocess.run(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False
        )
        if done.returncode:
            output = done.stdout.decode(errors="replace")[-_MAX_OUTPUT:]
            raise ChrootCommandFailed(f"`{command}` ended with status {done.returncode}:\n{output}")

    def command(
        self,
        command: Sequence[str],
        *,
        read_only: bool = False,
        volumes: Mapping[str, Path] | None = None,
        network_files: bool = False,
    ) -> list[str]:
        """Return the command line that runs a command in the root, as PID 1 of a new namespace."""
        root, environment = shlex.quote(str(self.folder)), dict(self.environment)
        mounts = [f"mount --bind {root} {root}", f"mount -t proc proc {root}/proc"]
        if network_files:
            environment |= installer_environment()
        if read_only:
            mounts += [f"mount -o remount,bind,ro {root}", f"mount -t tmpfs tmpfs {root}/tmp"]
        mounts += [
            f"mount --bind {shlex.quote(str(target))} {root}{path}"
            for path, target in (volumes or {}).items()
        ]
        enter = ["chroot", f"--userspec={self.user}", str(self.folder), "/usr/bin/env", "-i"]
        inside = f'cd {shlex.quote(self.workdir)} && exec "$@"'
        settings = [f"{name}={value}" for name, value in environment.items()]
        call = shlex.join([*enter, *settings, "/bin/sh", "-c", inside, "sh", *command])
        script = " && ".join([*mounts, f"exec {call}"])
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
        return [*unshare, "/bin/sh", "-c", script]


def installer_environment() -> dict[str, str]:
    """Return this machine's proxies and certificates, for apt and pip in the root."""
    proxies = {name: os.environ[name] for name in _PROXIES if name in os.environ}
    return proxies | {"PIP_CERT": _CERTIFICATES, "SSL_CERT_FILE": _CERTIFICATES}


def copy_installer_configuration(root: Path) -> None:
    """Copy this machine's configuration of apt and pip into the root."""
    for name in (*_FILES, _CERTIFICATES):
        source, target = Path(name), root / name.lstrip("/")
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copyfile(source, target)
