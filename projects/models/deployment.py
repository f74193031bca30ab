"""Deployment: (project, service, zone, version)."""

from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from projects.models.project import Project


class Deployment(models.Model):
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="deployments", verbose_name=_("project")
    )
    service = models.CharField(_("service"), max_length=255)
    zone = models.CharField(_("zone"), max_length=512, blank=True)
    version = models.CharField(_("version"), max_length=512, blank=True)
    language = models.CharField(
        pgettext_lazy("programming", "Language"), max_length=512, blank=True
    )
    first_seen = models.DateTimeField(_("first seen"))
    last_seen = models.DateTimeField(_("last seen"))
    # Time of its earliest profile, by the profile's own time: an import may come in any order.
    first_profile = models.DateTimeField(_("first profile"), null=True)
    # ProfileTypes that the deployment has a profile of; the first of any other is requested at
    # once.
    profiled = models.JSONField(_("profiled types"), default=list, blank=True)

    class Meta:
        verbose_name = _("deployment")
        verbose_name_plural = _("deployments")
        constraints = [
            models.UniqueConstraint(
                fields=["project", "service", "zone", "version"], name="deployment_identity"
            )
        ]

    def __str__(self) -> str:
        return " ".join(filter(None, [self.service, self.version, self.zone]))


def first_profile() -> Coalesce:
    """Return the expression to order by: rows of before, and those without a profile, lack it."""
    return Coalesce("first_profile", "first_seen")
