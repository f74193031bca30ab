"""Tags and pins of the agent's distributions."""

import zipfile
from pathlib import Path

import pytest

from tools import agent_dist, cross_wheels

PINS = """\
setuptools-scm==9.0 \\
    --hash=sha256:aa
setuptools==84.2.1 \\
    --hash=sha256:bb \\
    --hash=sha256:cc
    # via -r requirements/server.in
six==1.17.0 \\
    --hash=sha256:dd
"""


def wheel(folder: Path, machine: str, binary: bytes | None) -> Path:
    path = folder / f"flamewatch_agent-0.2.0-cp311-abi3-linux_{machine}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("flamewatch/__init__.py", "GLIBC_9.99")
        if binary is not None:
            archive.writestr("flamewatch/_native.abi3.so", binary)
    return path


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_wheel_is_tagged_by_the_newest_symbol_that_it_needs(tmp_path: Path, machine: str) -> None:
    path = wheel(tmp_path, machine, b"\x7fELF\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.17\0")
    assert agent_dist.platform_tag(path) == f"manylinux_2_34_{machine}"


def test_a_wheel_without_binaries_keeps_its_tag(tmp_path: Path) -> None:
    assert agent_dist.platform_tag(wheel(tmp_path, "x86_64", None)) is None


def test_on_musl_the_tag_is_that_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tags = ["musllinux_1_2_x86_64", "musllinux_1_1_x86_64", "linux_x86_64"]
    monkeypatch.setattr(agent_dist, "platform_tags", lambda: iter(tags))
    assert agent_dist.platform_tag(wheel(tmp_path, "x86_64", b"\x7fELF")) == tags[0]


def test_a_pin_has_its_hashes_and_no_others() -> None:
    pin = agent_dist.find_pin("setuptools", PINS)
    assert pin.startswith("setuptools==84.2.1 ")
    assert ("bb" in pin, "cc" in pin, "aa" in pin, "dd" in pin) == (True, True, False, False)


def test_a_missing_pin_is_named() -> None:
    with pytest.raises(agent_dist.BuildFailed, match="no pin of wheel; run make requirements"):
        agent_dist.find_pin("wheel", PINS)


def test_a_step_that_fails_says_what_it_printed() -> None:
    with pytest.raises(agent_dist.BuildFailed, match=r"(?s)trouble.*Exit code 3"):
        agent_dist.run(["sh", "-c", "echo trouble; exit 3"])


def test_the_folder_stays_as_it_was_if_the_build_fails(tmp_path: Path) -> None:
    target = tmp_path / "agents"
    target.mkdir()
    (target / "old.whl").touch()
    with pytest.raises(agent_dist.BuildFailed):
        agent_dist.build(tmp_path / "no-source", target)
    assert [path.name for path in tmp_path.iterdir()] == ["agents"]
    assert [path.name for path in target.iterdir()] == ["old.whl"]


def test_a_binary_that_needs_more_than_its_tag_promises_fails() -> None:
    target = cross_wheels.TARGETS[0]
    cross_wheels.check(target, b"GLIBC_2.17\0GLIBC_2.2.5\0")
    with pytest.raises(ValueError, match=r"needs glibc 2\.34"):
        cross_wheels.check(target, b"GLIBC_2.34\0")


def test_without_the_cross_compiler_this_machine_s_wheel_remains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    cross_wheels.build(tmp_path, tmp_path / "x.whl", tmp_path, lambda _: pytest.fail("a step ran"))
    assert "only the wheel of this machine is built" in capsys.readouterr().err
