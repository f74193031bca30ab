"""Commands and configuration of clients other than the Python agent, to be pasted verbatim."""

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from frontend.pages.agent_files.archives import GO_MODULE, java_packages, node_packages
from frontend.pages.setup.install_commands import SERVICE


class SetupStep(NamedTuple):
    """Text to paste: its heading, the language that it is written in, and the text."""

    heading: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class OtherClient:
    """Client other than the Python agent, with the steps that connect it."""

    id: str
    name: str
    note: str
    steps: tuple[SetupStep, ...]


def other_clients(server: str, key: str, project_id: str) -> list[OtherClient]:
    """Return the clients that this server offers or accepts, with its values filled in.

    `server` is its URL without a trailing slash.
    """
    exports = f"export FLAMEWATCH_URL={server}\nexport FLAMEWATCH_KEY={key}\n"
    exports += f"export FLAMEWATCH_SERVICE={SERVICE}\n"
    return [
        _go(server, exports),
        *_node(server, exports),
        *_java(server, exports),
        _opentelemetry(server, key),
        _pyroscope(server, key, project_id),
        _cloud_profiler(server, project_id),
    ]


def _go(server: str, exports: str) -> OtherClient:
    install = (
        f"export GOPROXY={server}/agents/go,$(go env GOPROXY) GONOSUMDB={GO_MODULE}\n"
        f"go get {GO_MODULE}"
    )
    code = (
        f'import flamewatch "{GO_MODULE}"\n\n'
        "agent := flamewatch.Start(flamewatch.Config{})\ndefer agent.Stop()"
    )
    steps = (
        SetupStep(_("Install the agent"), "Shell", install),
        SetupStep(_("Start the agent in your code"), "Go", code),
        SetupStep(_("Run your program with the agent"), "Shell", f"{exports}go run ."),
    )
    return OtherClient("go", "Go", _("1.22 or newer"), steps)


def _node(server: str, exports: str) -> list[OtherClient]:
    packages = node_packages()
    if not packages:
        return []
    run = f"{exports}node --require flamewatch-agent/start app.js"
    steps = (
        SetupStep(
            _("Install the agent"), "Shell", f"npm install {server}/agents/node/{packages[-1]}"
        ),
        SetupStep(_("Run your program with the agent"), "Shell", run),
        SetupStep(
            _("Or start the agent in your code"),
            "JavaScript",
            "require('flamewatch-agent').start();",
        ),
    )
    return [OtherClient("node", "Node.js", _("18 or newer"), steps)]


def _java(server: str, exports: str) -> list[OtherClient]:
    packages = java_packages()
    if not packages:
        return []
    jar = packages[-1]  # the newest
    steps = (
        SetupStep(_("Install the agent"), "Shell", f"curl -O {server}/agents/java/{jar}"),
        SetupStep(
            _("Run your program with the agent"),
            "Shell",
            f"{exports}java -javaagent:{jar} -jar app.jar",
        ),
    )
    return [OtherClient("java", "Java", _("17 or newer"), steps)]


def _opentelemetry(server: str, key: str) -> OtherClient:
    exporter = (
        "exporters:\n"
        "  otlphttp/flamewatch:\n"
        f"    endpoint: {server}\n"
        "    headers:\n"
        f"      authorization: Bearer {key}\n"
        "service:\n"
        "  pipelines:\n"
        "    profiles:\n"
        "      receivers: [otlp]\n"
        "      exporters: [otlphttp/flamewatch]"
    )
    run = "otelcol --config collector.yaml --feature-gates=service.profilesSupport"
    steps = (
        SetupStep(_("Add an exporter to the Collector"), "YAML", exporter),
        SetupStep(_("Run the Collector with profiles"), "Shell", run),
    )
    return OtherClient("opentelemetry", "OpenTelemetry", _("Collector, eBPF, SDKs"), steps)


def _pyroscope(server: str, key: str, project_id: str) -> OtherClient:
    go = (
        "pyroscope.Start(pyroscope.Config{\n"
        f'    ApplicationName:   "{SERVICE}",\n'
        f'    ServerAddress:     "{server}",\n'
        f'    BasicAuthUser:     "{project_id}",\n'
        f'    BasicAuthPassword: "{key}",\n'
        "})"
    )
    java = (
        f"export PYROSCOPE_APPLICATION_NAME={SERVICE}\n"
        f"export PYROSCOPE_SERVER_ADDRESS={server}\n"
        f"export PYROSCOPE_BASIC_AUTH_USER={project_id}\n"
        f"export PYROSCOPE_BASIC_AUTH_PASSWORD={key}\n"
        "export PYROSCOPE_FORMAT=jfr"
    )
    steps = (
        SetupStep(_("Change the server and the password, for example in Go"), "Go", go),
        SetupStep(_("Or in the environment, for Java"), "Shell", java),
    )
    return OtherClient("pyroscope", "Pyroscope", _("all of its clients"), steps)


def _cloud_profiler(server: str, project_id: str) -> OtherClient:
    python = (
        "googlecloudprofiler.start(\n"
        f'    service="{SERVICE}",\n'
        f'    project_id="{project_id}",\n'
        '    service_account_json_file="/etc/flamewatch/key.json",\n'
        f'    discovery_service_url="{server}/$discovery/rest?version=v2",\n'
        ")"
    )
    node = (
        "require('@google-cloud/profiler').start({\n"
        f"  apiEndpoint: '{urlsplit(server).netloc}',\n"
        f"  projectId: '{project_id}',\n"
        f"  serviceContext: {{ service: '{SERVICE}', version: '1.0' }},\n"
        "});"
    )
    steps = (
        SetupStep(_("Download a key file in the settings, then in Python"), "Python", python),
        SetupStep(_("Or in Node.js, over https"), "JavaScript", node),
    )
    return OtherClient("cloud-profiler", "Cloud Profiler", _("Google’s agents"), steps)
