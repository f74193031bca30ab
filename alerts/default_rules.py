"""Rules that each new project has; they are changed, paused and deleted as others are."""

from django.utils import timezone
from django.utils.translation import gettext as _

from alerts.models import AlertRule, RuleKind
from projects.models import Project

_SILENT_MINUTES = 60


def create_default_rules(project: Project) -> None:
    """Create the rule on services that stop reporting, as part of the project's creation."""
    AlertRule.objects.create(
        project=project,
        name=_("A service stopped reporting"),
        kind=RuleKind.STOPPED_REPORTING,
        parameters={"minutes": _SILENT_MINUTES},
        changed=timezone.now(),
    )
