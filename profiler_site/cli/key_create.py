"""`flamewatch key create PROJECT --scope write|read [--scope …]`: create an API key."""

from argparse import Namespace
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.utils import timezone

from profiler_site.cli.command import CommandFailed, print_result
from projects.account_limits import LimitReached
from projects.audit import COMMAND_LINE
from projects.credentials import keys
from projects.credentials.allowed_services import AllowedServices, clean_services
from projects.models import Project
from projects.models.api_key import SERVICE_NAME


def run(options: Namespace) -> int:
    project = Project.objects.filter(project_id=options.project).first()
    if project is None:
        raise CommandFailed(f"No project with the id {options.project}.")
    services = _clean_services(options.service)
    _check_default_service(options.default_service or "", services)
    days = options.expires_in
    expires = None if days is None else timezone.now() + timedelta(days=days)
    try:
        _, text = keys.create(
            project,
            options.name,
            write="write" in options.scope,
            read="read" in options.scope,
            services=services,
            default_service=options.default_service or "",
            expires=expires,
            origin=COMMAND_LINE,
        )
    except LimitReached as reached:
        raise CommandFailed(str(reached)) from None
    return print_result(options, text, {"project": project.project_id, "key": text})


def _clean_services(names: list[str]) -> list[str]:
    try:
        return clean_services(names)
    except ValidationError as error:
        raise CommandFailed(f"--service: {error.messages[0]}") from None


def _check_default_service(service: str, allowed: list[str]) -> None:
    if not service:
        return
    try:
        SERVICE_NAME(service)
    except ValidationError as error:
        raise CommandFailed(f"--default-service {service}: {error.messages[0]}") from None
    if not AllowedServices(tuple(allowed)).allows(service):
        raise CommandFailed(f"--default-service {service} is not one of the allowed services.")
