"""The client's commands against a real server, compared with the stacks that were uploaded."""

import json
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server import RunningServer, Tenant, running_server

pytestmark = pytest.mark.server

COMMAND = [sys.executable, "-m", "flamewatch_client.main"]
STACKS = {"1": "main 1\nmain;parse 3\nmain;render 6", "2": "main 1\nmain;parse 9\nmain;render 6"}


class CommandLine:
    """Commands of a person with a login of their own."""

    def __init__(self, server: RunningServer, tenant: Tenant, home: Path) -> None:
        self.server, self.tenant, self.home = server, tenant, home
        self.token = server.add_token()

    def run(
        self, *arguments: str, stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": "client/src",
            "XDG_CONFIG_HOME": str(self.home),
        }
        return subprocess.run(
            [*COMMAND, *arguments],
            env=environment | variables,
            input=stdin,
            text=True,
            capture_output=True,
            check=False,
        )

    def text(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def document(self, *arguments: str) -> dict[str, object]:
        document: dict[str, object] = json.loads(self.text(*arguments, "--json"))
        return document


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    home = tmp_path_factory.mktemp("home")
    with running_server() as server:
        cli = CommandLine(server, server.add_tenant(), home)
        for version, stacks in STACKS.items():
            file = home / f"stacks-{version}.txt"
            file.write_text(stacks)
            options = ["--service", "shop", "--version", version, "--unit", "count"]
            done = cli.run(
                *("upload", str(file), "--type", "CPU", "--duration", "10s", *options),
                FLAMEWATCH_URL=server.url,
                FLAMEWATCH_KEY=cli.tenant.write,
            )
            assert done.returncode == 0, done.stderr
            assert f"{server.url}/p/" in done.stdout
        done = cli.run("login", server.url, "--token-stdin", stdin=f"{cli.token}\n")
        assert done.returncode == 0, done.stderr
        assert cli.token not in done.stdout + done.stderr
        yield cli


def test_login_stores_the_token_for_its_owner_alone(cli: CommandLine) -> None:
    path = cli.home / "flamewatch" / "login.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["token"] == cli.token


def test_services_have_volume_and_last_profile(cli: CommandLine) -> None:
    heading, row = cli.text("services").splitlines()
    assert heading.split()[:2] == ["SERVICE", "PROFILES"]
    assert row.split()[:2] == ["shop", "2"]


def test_search_shows_services_and_versions(cli: CommandLine) -> None:
    heading, row, count = cli.text("search", "parse").splitlines()
    assert heading.split()[:2] == ["SERVICE", "SHARE"]
    assert row.split() == ["shop", "46.2%", "6", "main"]  # 12 of 26, in two profiles
    assert count == "1 of 1 services"
    _, *rows, _ = cli.text("search", "parse", "--versions").splitlines()
    assert sorted(row.split() for row in rows) == [
        ["shop", "1", "30.0%", "3", "1"],
        ["shop", "2", "56.2%", "9", "1"],
    ]
    document = cli.document("search", "/^render$/")
    assert document["services"][0]["share"] == pytest.approx(12 / 26)  # type: ignore[index]


def test_top_has_values_and_shares(cli: CommandLine) -> None:
    lines = cli.text("top", "shop", "--version", "1").splitlines()
    assert [line.split() for line in lines[2:]] == [
        ["6", "60.0%", "6", "60.0%", "render"],
        ["3", "30.0%", "3", "30.0%", "parse"],
        ["1", "10.0%", "10", "100.0%", "main"],
    ]


def test_flame_draws_the_stacks(cli: CommandLine) -> None:
    lines = cli.text("flame", "shop", "--version", "1", "--width", "50").splitlines()
    assert lines[1:] == [
        "|shop CPU 100.0%",
        "|main 100.0%",
        "|render 60.0%                 |parse 30.0%",
    ]


def test_diff_has_the_change_of_each_function(cli: CommandLine) -> None:
    lines = cli.text("diff", "shop", "--version", "2", "--b-version", "1").splitlines()
    rows = [line.split() for line in lines if line.startswith((" ", "+", "-"))]
    assert rows == [["+6", "+60.0%", "16", "10", "main"], ["+6", "+200.0%", "9", "3", "parse"]]


def test_download_is_a_pprof_file(cli: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "shop.pb.gz"
    cli.text("download", "shop", "-o", str(path))
    assert path.read_bytes().startswith(b"\x1f\x8b")
    assert "main;parse 12" in cli.text("download", "shop", "--format", "folded", "-o", "-")


def test_keys_are_created_rotated_and_revoked(cli: CommandLine) -> None:
    created = cli.document("keys", "create", "ci", "--scope", "read", "--expires-in", "3")
    rotated = cli.document("keys", "rotate", str(created["id"]))
    assert rotated["key"] != created["key"]
    cli.text("keys", "revoke", str(rotated["id"]))
    states = {line.split()[0]: line for line in cli.text("keys", "list").splitlines()}
    assert "rotated" in states[str(created["id"])]
    assert "revoked" in states[str(rotated["id"])]


def test_members_are_listed_and_invited(cli: CommandLine) -> None:
    assert "alice@example.org" in cli.text("members", "list")
    assert cli.text("members", "invite", "--role", "viewer").startswith(f"link: {cli.server.url}")
    last_owner = cli.run("members", "role", "alice@example.org", "viewer")
    assert last_owner.returncode == 1
    stranger = cli.run("members", "remove", "bob@example.org")
    assert "bob@example.org is not a member" in stranger.stderr


def test_webhooks_are_created_tested_rotated_and_deleted(cli: CommandLine) -> None:
    address = "https://chat.example.org/hook"
    secret = cli.text("webhooks", "create", "chat", address, "--kind", "alert").strip()
    assert secret.startswith("whsec_")
    table = cli.text("webhooks", "list")
    assert address in table
    assert "alert" in table
    assert secret not in table
    webhook = table.splitlines()[1].split()[0]
    assert "within a minute" in cli.text("webhooks", "test", webhook)
    assert cli.text("webhooks", "rotate", webhook).strip() not in {"", secret}
    assert cli.document("webhooks", "delete", webhook) == {"done": True}
    assert cli.document("webhooks", "list") == {"rows": []}


def test_audit_has_the_actions_as_csv_and_json(cli: CommandLine) -> None:
    cli.text("keys", "create", "audited", "--scope", "write")
    rows = cli.document("audit", "--size", "1")["rows"]
    assert isinstance(rows, list)
    assert "audited" in rows[0]["target"]
    assert cli.text("audit", "--csv").startswith("time,actor_kind,actor,")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("top", "shop", "--span", "1y"), "span: '1y' is no duration"),
        (("top", "shop", "--url", "http://127.0.0.1:1"), "There is no server or token"),
        (("top", "shop", "--project", "foreign"), "No such project"),
        (("diff", "shop"), "Say what to compare with"),
        (("top", "shop", "--label", "team"), "--label team: write it as NAME=VALUE."),
    ],
)
def test_failures_say_what_to_do(cli: CommandLine, arguments: tuple[str, ...], words: str) -> None:
    done = cli.run(*arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stdout == ""


def test_invalid_token_says_how_to_log_in(cli: CommandLine) -> None:
    done = cli.run("services", FLAMEWATCH_TOKEN="fwp_wrong")
    assert done.returncode == 1
    assert "flamewatch login" in done.stderr


def test_invalid_arguments_exit_with_2_and_the_usage_of_the_command(cli: CommandLine) -> None:
    assert cli.run("top").returncode == 2
    done = cli.run("keys", "create", "ci", "--scope", "read", "--colour", "red")
    assert done.returncode == 2
    assert done.stderr.startswith("usage: flamewatch keys create ")
    assert done.stderr.endswith("create: error: unrecognized arguments: --colour red\n")


def test_upload_needs_no_key_after_login(cli: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "stacks.txt"
    file.write_text("main 1\nmain;upload 2")
    arguments = ("upload", str(file), "--service", "uploaded", "--type", "CPU", "--unit", "count")
    assert "CPU: 2 samples" in cli.text(*arguments, "--duration", "10s")
    assert "uploaded" in cli.text("services")
    done = cli.run("upload", str(file), "--service", "x", "--url", "http://127.0.0.1:1")
    assert "There is no API key. Run `flamewatch login`" in done.stderr


def add_findings(cli: CommandLine) -> None:
    program = (
        "import django; django.setup()\n"
        "from projects.models import Project\n"
        "from tests.findings.factory import add_finding\n"
        "project = Project.objects.get()\n"
        "add_finding(project)\n"
        "add_finding(project, function='shop.\\x1btax', before=0.0, state='resolved')\n"
        "add_finding(project, function='shop.sum', direction='improvement', change=-2.3e7)\n"
    )
    subprocess.run(
        [sys.executable, "-c", program],
        env=cli.server.environment | {"DJANGO_SETTINGS_MODULE": "profiler_site.settings"},
        check=True,
    )


def test_regressions_are_listed_by_filter(cli: CommandLine) -> None:
    assert len(cli.text("regressions").splitlines()) == 1
    add_findings(cli)
    heading, first, second = cli.text("regressions").splitlines()
    assert heading.split()[:4] == ["ID", "SERVICE", "TYPE", "STATE"]
    since = ["2026-11-19", "00:00Z"]
    assert first.split()[1:] == [
        *("shop", "CPU", "new", "+23", "ms", "+23.0%", *since, "2", "shop.price")
    ]
    assert second.split()[3:7] == ["resolved", "+23", "ms", "new"]
    assert second.endswith("shop.\ufffdtax")
    assert len(cli.text("regressions", "--state", "new").splitlines()) == 2
    (row,) = cli.text("regressions", "--direction", "improvement").splitlines()[1:]
    assert row.split()[4:7] == ["-23", "ms", "-23.0%"]
    document = cli.document("regressions", "--direction", "any", "--size", "2")
    assert isinstance(document["rows"], list)
    assert [each["function"] for each in document["rows"]] == ["shop.price", "shop.\x1btax"]


def run_exports(server: RunningServer) -> subprocess.Popen[str]:
    """Run the exports of the server, as its scheduler does each minute."""
    script = (
        "import time, django; django.setup()\n"
        "from profiles.project_export import jobs, runner\n"
        "while True:\n"
        "    for pk in jobs.find_open(): runner.run_job(pk, time.monotonic() + 60)\n"
        "    time.sleep(0.2)\n"
    )
    environment = server.environment | {"DJANGO_SETTINGS_MODULE": "profiler_site.settings"}
    return subprocess.Popen([sys.executable, "-c", script], env=environment, text=True)


def test_export_is_a_complete_archive(cli: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "shop.tar"
    exporting = run_exports(cli.server)
    try:
        document = cli.document("export", "--output", str(path))
    finally:
        exporting.kill()
        exporting.wait()
    assert document["bytes"] == path.stat().st_size
    with tarfile.open(path) as archive:
        index = archive.extractfile("profiles.jsonl")
        assert index is not None
        entries = [json.loads(line) for line in index]
    deployments = {(each["service"], each["version"]) for each in entries}
    assert {("shop", "1"), ("shop", "2")} <= deployments
    assert list(tmp_path.iterdir()) == [path]  # no partial file is left
    again = tmp_path / "again.tar"
    assert cli.text("export", "--latest", "-o", str(again)).startswith(f"{again}: ")
    assert again.read_bytes() == path.read_bytes()


def test_export_to_a_missing_folder_says_so(cli: CommandLine, tmp_path: Path) -> None:
    done = cli.run("export", "-o", str(tmp_path / "none" / "shop.tar"))
    assert done.returncode == 1
    assert "is no folder" in done.stderr
