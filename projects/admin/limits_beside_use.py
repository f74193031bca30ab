"""Help texts that show the current usage beside each limit of a quota form."""

from collections.abc import Mapping

from django.forms import Field
from django.utils.translation import gettext as _

from projects.models import Project
from projects.usage.limits import BUILT_IN, LimitName
from projects.usage.quota_reached import amount_text
from projects.usage.usage import LimitUsage, load_usage


def explain(fields: Mapping[str, Field], project: Project | None) -> None:
    """Set the help texts of a quota form; without a project, those for the row of defaults."""
    if project is None or project.pk is None:
        texts = {name: _describe_default(name) for name in LimitName}
    else:
        texts = {limit.name: _use(limit) for limit in load_usage(project.pk).limits}
    for name, text in texts.items():
        if name in fields:
            fields[name].help_text = text


def _describe_default(name: LimitName) -> str:
    return _("Leave empty for the built-in default, %(amount)s.") % {
        "amount": amount_text(name, BUILT_IN.get_limit(name))
    }


def _use(limit: LimitUsage) -> str:
    if limit.used is None or limit.share is None:
        return _("Current limit: %(allowed)s. Leave empty for the default.") % {
            "allowed": limit.allowed_text
        }
    return _("Used: %(used)s of %(allowed)s (%(share).0f %%). Leave empty for the default.") % {
        "used": limit.used_text,
        "allowed": limit.allowed_text,
        "share": 100 * limit.share,
    }
