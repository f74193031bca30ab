"""Completion scripts, the one of bash in a real shell."""

import subprocess
import sys

import pytest


def get_script(shell: str) -> str:
    command = [sys.executable, "-m", "flamewatch_client.main", "completion", shell]
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["fla"], {"flame"}),
        (["keys", "r"], {"rotate", "revoke"}),
        (["keys", "create", "ci", "--sco"], {"--scope"}),
        (["top", "shop", "--v"], {"--version"}),
        (["che"], {"check"}),
        (
            ["check", "--t"],
            {"--timeout", "--too-few", "--total-threshold", "--type", "--threshold", "--to"},
        ),
    ],
)
def test_bash_completes_commands_and_options(words: list[str], expected: set[str]) -> None:
    line = " ".join(f"'{word}'" for word in ["flamewatch", *words])
    script = (
        f"{get_script('bash')}\nCOMP_WORDS=({line})\nCOMP_CWORD={len(words)}\n"
        '_flamewatch\nprintf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], text=True, capture_output=True, check=True)
    assert set(done.stdout.split()) == expected


def test_zsh_and_fish_have_scripts() -> None:
    assert get_script("zsh").startswith("#compdef flamewatch\n")
    assert "__fish_seen_subcommand_from keys' -a 'list create" in get_script("fish")
