"""`flamewatch project create NAME --owner EMAIL`: create a project."""

from argparse import Namespace

from django.core.exceptions import ValidationError

from profiler_site.cli.command import CommandFailed, print_result
from projects.account_limits import LimitReached
from projects.audit import COMMAND_LINE
from projects.models import Project, User
from projects.project_ids import create_project


def run(options: Namespace) -> int:
    owner = User.objects.filter(email=options.owner.lower()).first()
    if owner is None:
        raise CommandFailed(
            f"No account for {options.owner}. Create it with `flamewatch user create`."
        )
    try:
        project = create_project(_validate_name(options.name), owner, origin=COMMAND_LINE)
    except LimitReached as reached:
        raise CommandFailed(str(reached)) from None
    return print_result(
        options,
        f"Created project {project.name} with the id {project.project_id}.",
        {"name": project.name, "project": project.project_id},
    )


def _validate_name(name: str) -> str:
    """Validate a project name as the form does; raise CommandFailed."""
    try:
        return str(Project._meta.get_field("name").clean(name.strip(), None))
    except ValidationError as error:
        raise CommandFailed(f"name: {' '.join(error.messages)}") from None
