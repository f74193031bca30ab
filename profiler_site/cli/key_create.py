"""`flamewatch key create PROJECT --scope write|read [--scope …]`: create an API key."""

from argparse import Namespace

from django.core.exceptions import ValidationError

from profiler_site.cli.command import CommandFailed, print_result
from projects.account_limits import LimitReached
from projects.credentials import keys
from projects.models import Project
from projects.models.api_key import SERVICE_NAME


def run(options: Namespace) -> int:
    project = Project.objects.filter(project_id=options.project).first()
    if project is None:
        raise CommandFailed(f"No project with the id {options.project}.")
    service = options.default_service
    try:
        if service:
            SERVICE_NAME(service)
        _, text = keys.create(
            project,
            options.name,
            write="write" in options.scope,
            read="read" in options.scope,
            default_service=service,
        )
    except ValidationError as error:
        raise CommandFailed(f"--default-service {service}: {error.messages[0]}") from None
    except LimitReached as reached:
        raise CommandFailed(str(reached)) from None
    return print_result(options, text, {"project": project.project_id, "key": text})
