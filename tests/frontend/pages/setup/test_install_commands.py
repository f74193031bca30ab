"""Commands to paste, for every kind of server."""

from pathlib import Path

import pytest

from frontend.pages.agent_files.files import AgentFile
from frontend.pages.setup.install_commands import install_commands

WHEEL = AgentFile("flamewatch_agent-0.2.0-cp311-abi3-manylinux_2_17_x86_64.whl", Path(), "")
SETUPTOOLS = AgentFile("setuptools-84.2.1-py3-none-any.whl", Path(), "")
SDIST = AgentFile("flamewatch_agent-0.2.0.tar.gz", Path(), "")


def test_wheel_is_installed_from_this_server_without_an_index() -> None:
    shown = install_commands("https://profiles.acme.example", "fw_key", [WHEEL, SDIST])
    assert shown.install == (
        "pip install --no-index --find-links https://profiles.acme.example/agents/python/"
        " flamewatch-agent"
    )


def test_plain_http_from_another_machine_has_to_be_trusted() -> None:
    shown = install_commands("http://10.0.0.5:8000", "fw_key", [WHEEL])
    assert "--trusted-host 10.0.0.5:8000 flamewatch-agent" in shown.install


def test_sdist_alone_is_installed_by_its_url() -> None:
    shown = install_commands("http://127.0.0.1:8000", "fw_key", [SDIST])
    assert shown.install == (
        'pip install "flamewatch-agent @'
        ' http://127.0.0.1:8000/agents/python/flamewatch_agent-0.2.0.tar.gz"'
    )


def test_sdist_with_build_requirements_is_installed_without_an_index() -> None:
    shown = install_commands("http://127.0.0.1:8000", "fw_key", [SDIST, SETUPTOOLS])
    assert shown.install.startswith("pip install --no-index --find-links ")


def test_build_requirement_alone_is_not_installed_as_the_agent() -> None:
    assert (
        "flamewatch-agent @"
        not in install_commands("http://127.0.0.1", "fw_key", [SETUPTOOLS]).install
    )


def test_run_commands_have_url_and_key() -> None:
    shown = install_commands("http://127.0.0.1:8000", "fw_key", [WHEEL])
    assert shown.run.splitlines() == [
        "export FLAMEWATCH_URL=http://127.0.0.1:8000",
        "export FLAMEWATCH_KEY=fw_key",
        "flamewatch-run --service my-service -- python app.py",
    ]


def test_code_to_paste_compiles() -> None:
    compile(install_commands("http://127.0.0.1:8000", "fw_key", [WHEEL]).code, "pasted", "exec")


@pytest.mark.parametrize(
    ("tag", "platform"),
    [
        ("manylinux_2_34_x86_64", "x86-64 with glibc 2.34 or newer"),
        ("musllinux_1_2_aarch64", "ARM64 with musl 1.2 or newer"),
        ("manylinux_2_17_riscv64", "riscv64 with glibc 2.17 or newer"),
        ("linux_x86_64", "x86-64"),
    ],
)
def test_platforms_of_the_wheels_are_named(tag: str, platform: str) -> None:
    wheel = AgentFile(f"flamewatch_agent-0.2.0-cp311-abi3-{tag}.whl", Path(), "")
    shown = install_commands("http://127.0.0.1", "fw_key", [wheel, SDIST, SETUPTOOLS])
    assert shown.platforms == [platform]
    assert install_commands("http://127.0.0.1", "fw_key", [SDIST]).platforms == []
