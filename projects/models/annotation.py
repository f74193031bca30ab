"""Annotation: a note of a person or an API key at a time, or at a function of a service."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.project import Project

MAX_TEXT = 500  # characters
MAX_LINK = 500
MAX_FUNCTION = 10_000  # as long as the names of functions in URLs


class Annotation(models.Model):
    """Note at a time (`at`), or at a function; exactly one of the two is set.

    A note at a time may be of one service, and of one version of it; a note at a function always
    has its service.
    """

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="annotations", verbose_name=_("project")
    )
    at = models.DateTimeField(_("time"), null=True, blank=True)
    service = models.CharField(_("service"), max_length=255, blank=True, default="")
    version = models.CharField(_("version"), max_length=512, blank=True, default="")
    function = models.TextField(_("function"), max_length=MAX_FUNCTION, blank=True, default="")
    text = models.CharField(_("text"), max_length=MAX_TEXT)
    link = models.CharField(_("link"), max_length=MAX_LINK, blank=True, default="")
    created = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("created by"),
    )
    # Prefix of the API key that created it; "" for a person.
    created_key = models.CharField(_("API key"), max_length=32, blank=True, default="")

    class Meta:
        verbose_name = _("annotation")
        verbose_name_plural = _("annotations")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(at__isnull=False, function="")
                | (models.Q(at__isnull=True) & ~models.Q(function="") & ~models.Q(service="")),
                name="annotation_of_a_time_or_a_function",
            )
        ]
        indexes = [models.Index(fields=["project", "at"], name="annotation_by_time")]

    def __str__(self) -> str:
        return self.text[:80]
