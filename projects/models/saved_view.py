"""Named views of a project: a page with the parameters of its URL."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.project import Project


class ViewPage(models.TextChoices):
    """Pages that a view may be of; the values are the last parts of their paths."""

    SERVICES = "services", _("Services")
    FLAME = "flame", _("Flame graph")
    COMPARE = "compare", _("Compare")
    HISTORY = "history", _("History")
    BREAKDOWN = "breakdown", _("Breakdown")
    PROFILES = "profiles", _("Profiles")
    AGENTS = "agents", _("Agents")


class SavedView(models.Model):
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="saved_views", verbose_name=_("project")
    )
    name = models.CharField(_("name"), max_length=100)
    page = models.CharField(_("page"), max_length=10, choices=ViewPage)
    # Query string of the page's URL; a range that ends now has no end in it.
    query = models.TextField(_("parameters"), blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("created by"),
    )

    class Meta:
        verbose_name = _("saved view")
        verbose_name_plural = _("saved views")
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="saved_view_name_once")
        ]

    def __str__(self) -> str:
        return self.name
