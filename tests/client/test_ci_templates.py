"""Templates for GitHub and GitLab: their shell steps, run as the service would, with a server."""

import os
import re
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from flamewatch_client.check_command import add_check
from tests.client.conftest import CheckServer
from tests.client.stored_versions import SLOWER
from tests.client.test_distribution import build_wheel
from tests.paths import ROOT

pytestmark = pytest.mark.server

ACTION = ROOT / "integrations" / "github" / "action.yml"
TEMPLATE = ROOT / "integrations" / "gitlab" / "flamewatch-check.yml"
GUIDE = (ROOT / "docs" / "guide" / "ci.md").read_text()
_INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build_wheel(tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a runner, in which the client stays installed between the tests."""
    return tmp_path_factory.mktemp("runner")


def build_environment(server: CheckServer) -> dict[str, str]:
    """Return the variables of a job: Python's own folder is first, and pip uses no index."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(server.home), "PIP_NO_INDEX": "1"}


class GitHubAction:
    """The composite action, with the variables and files of a runner."""

    def __init__(self, server: CheckServer, runner: Path, wheel: str) -> None:
        self.action: dict[str, Any] = yaml.safe_load(ACTION.read_text())
        self.server, self.runner, self.wheel = server, runner, wheel
        self.summary, self.output = runner / "summary.md", runner / "output"

    def run(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the steps until one fails; return the last."""
        self.summary.write_text("Before\n")
        self.output.write_text("")
        given = {
            **{"url": self.server.server.url, "key": self.server.tenant.read},
            **{"service": "shop", "base": "1", "head": "2", "client": self.wheel},
            **{name.replace("_", "-"): value for name, value in inputs.items()},
        }
        declared = self.action["inputs"]
        assert set(given) <= set(declared)
        assert {name for name, each in declared.items() if each.get("required")} <= set(given)
        values = {name: each.get("default", "") for name, each in declared.items()} | given
        install, *steps = self.action["runs"]["steps"]
        if not (self.runner / "flamewatch").exists():  # it takes seconds
            steps.insert(0, install)
        for step in steps:
            done = self._run_step(step, values)
            if done.returncode:
                break
        return done

    def _run_step(
        self, step: dict[str, Any], values: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        variables = {
            name: _INPUT.sub(lambda found: values[found[1]], text)
            for name, text in step["env"].items()
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env=build_environment(self.server)
            | {
                "GITHUB_ACTION_PATH": str(ACTION.parent),
                "GITHUB_STEP_SUMMARY": str(self.summary),
                "GITHUB_OUTPUT": str(self.output),
                "RUNNER_TEMP": str(self.runner),
            }
            | variables,
            cwd=self.runner,
            text=True,
            capture_output=True,
            check=False,
        )

    def read_outputs(self) -> dict[str, str]:
        lines = self.output.read_text().splitlines()
        return {name: value for name, _, value in (line.partition("=") for line in lines)}


@pytest.fixture
def action(check_server: CheckServer, runner: Path, wheel: str) -> GitHubAction:
    return GitHubAction(check_server, runner, wheel)


def test_action_fails_with_a_summary_of_the_regression(action: GitHubAction) -> None:
    done = action.run()
    assert (done.returncode, done.stderr) == (1, "")
    assert SLOWER in done.stdout
    summary = action.summary.read_text()
    assert summary.startswith("Before\n### Flamewatch: regression of 1 function\n")
    outputs = action.read_outputs()
    assert outputs["exit-code"] == "1"
    assert Path(outputs["report"]).read_text() == summary.removeprefix("Before\n")
    assert "regression of 1 function" in Path(outputs["image"]).read_text()


def test_action_passes_options_and_inputs_on(action: GitHubAction) -> None:
    labels = "team=web\n"
    done = action.run(threshold="40", labels=labels, zone="eu-1", last="2h", type="CPU")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Threshold: 40 % of a function" in done.stdout
    assert action.run(labels="team=web\nteam=other", too_few="pass").returncode == 1
    assert action.run(labels="team=other").returncode == 3
    assert action.read_outputs()["exit-code"] == "3"
    done = action.run(options="--value=total\n--min-share=0.5", total_threshold="40")
    assert "with 0.5 % of the total" in done.stdout
    assert action.run(min_profiles="13", too_few="pass").returncode == 0


def test_action_runs_no_input_as_a_command(action: GitHubAction, runner: Path) -> None:
    trap = runner / "trap"
    text = f'$(touch {trap}) `touch {trap}`"; touch {trap}; "'
    done = action.run(service=text, base=text, options=f"--zone={text}", labels=f"a={text}")
    assert done.returncode == 3
    assert not trap.exists()


def test_action_has_no_summary_after_an_error(action: GitHubAction) -> None:
    done = action.run(key="fw_wrong")
    assert done.returncode == 2
    assert action.summary.read_text() == "Before\n"
    outputs = action.read_outputs()
    assert outputs["exit-code"] == "2"
    assert not Path(outputs["report"]).exists()
    assert not Path(outputs["image"]).exists()


def test_the_default_client_is_beside_the_action(action: GitHubAction) -> None:
    install = action.action["runs"]["steps"][0]["run"]
    default = re.search(r"\$\{CLIENT:-\$GITHUB_ACTION_PATH/(.+)\}", install)
    assert default
    assert (ACTION.parent / default[1] / "pyproject.toml").is_file()


def test_the_guide_has_the_inputs_of_the_action() -> None:
    action = yaml.safe_load(ACTION.read_text())
    names = [*action["inputs"], *action["outputs"]]
    assert [name for name in names if f"`{name}`" not in GUIDE] == []
    assert all(each["description"] for each in action["inputs"].values())


def run_gitlab_job(
    server: CheckServer, folder: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the script of the job in a shell, as the runner does: its lines in one program."""
    job = yaml.safe_load(TEMPLATE.read_text())[".flamewatch-check"]
    declared = {
        name: value.replace("$CI_COMMIT_SHORT_SHA", "2") for name, value in job["variables"].items()
    }
    return subprocess.run(
        ["sh", "-e", "-c", "\n".join(job["script"])],
        env=build_environment(server)
        | {name: str(value) for name, value in declared.items()}
        | {"FLAMEWATCH_KEY": server.tenant.read, "FLAMEWATCH_URL": server.server.url}
        | {"FLAMEWATCH_SERVICE": "shop", "FLAMEWATCH_BASE": "1"}
        | variables,
        cwd=folder,
        text=True,
        capture_output=True,
        check=False,
    )


def test_gitlab_job_leaves_report_and_exit_code(
    check_server: CheckServer, wheel: str, tmp_path: Path
) -> None:
    done = run_gitlab_job(check_server, tmp_path, FLAMEWATCH_CLIENT=wheel)
    assert (done.returncode, done.stderr) == (1, "")
    artifacts = yaml.safe_load(TEMPLATE.read_text())[".flamewatch-check"]["artifacts"]
    assert artifacts["when"] == "always"
    report, image = artifacts["paths"]
    assert "regression of 1 function" in (tmp_path / image).read_text()
    assert "regression of 1 function" in (tmp_path / report).read_text()
    exit_code = (tmp_path / artifacts["reports"]["dotenv"]).read_text()
    assert exit_code == "FLAMEWATCH_EXIT_CODE=1\n"
    options = "--threshold 40 --label team=web"
    done = run_gitlab_job(
        check_server, tmp_path, FLAMEWATCH_CLIENT=wheel, FLAMEWATCH_OPTIONS=options
    )
    assert done.returncode == 0
    assert "no regression" in (tmp_path / report).read_text()


def test_gitlab_job_without_a_client_says_which_variable_it_needs(
    check_server: CheckServer, tmp_path: Path
) -> None:
    done = run_gitlab_job(check_server, tmp_path)
    assert done.returncode != 0
    assert "FLAMEWATCH_CLIENT" in done.stderr


def test_the_guide_has_the_options_of_the_check() -> None:
    parser = ArgumentParser(add_help=False)
    add_check(parser)
    groups = [action.option_strings for action in parser._actions]
    # Ranges have two names, and lengths may end at a time: the guide of all commands has these.
    documented = GUIDE + (ROOT / "docs" / "guide" / "cli.md").read_text()
    named = re.compile(r"`(--[\w-]+)[ `]")
    words = set(named.findall(documented))
    assert [option for options in groups for option in options if option not in words] == []


def test_the_guide_has_the_variables_of_the_job() -> None:
    job = yaml.safe_load(TEMPLATE.read_text())[".flamewatch-check"]
    assert [name for name in job["variables"] if f"`{name}`" not in GUIDE] == []
