"""Command line that enters a root; `make container-check` executes it."""

from pathlib import Path

from tests.container.chroot import Root


def test_command_enters_the_root_with_its_user_and_environment() -> None:
    root = Root(Path("/scratch/image"), {"PATH": "/bin"}, workdir="/app", user="1:2")
    *unshare, script = root.command(["serve", "a b"])
    assert unshare[:4] == ["unshare", "--mount", "--pid", "--fork"]
    assert "chroot --userspec=1:2 /scratch/image /usr/bin/env -i PATH=/bin" in script
    assert "cd /app" in script
    assert script.endswith("sh serve 'a b'")


def test_a_read_only_root_has_only_its_volumes_and_tmp_to_write() -> None:
    command = Root(Path("/r")).command(["x"], read_only=True, volumes={"/data": Path("/v")})
    mounts = command[-1].split(" && ")
    assert mounts.index("mount -o remount,bind,ro /r") < mounts.index("mount --bind /v /r/data")
    assert "mount -t tmpfs tmpfs /r/tmp" in mounts


def test_relative_paths_begin_at_the_workdir() -> None:
    root = Root(Path("/r"), workdir="/app")
    assert root.resolve("a/b") == Path("/r/app/a/b")
    assert root.resolve("/opt/c") == Path("/r/opt/c")
