"""Audit log: who did what, when, from where, to what; append-only until its entries expire."""

from datetime import datetime
from typing import Any, ClassVar, NoReturn

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.project import Project

MAX_ADDRESS = 64  # characters, as in common/client_address.py
MAX_TARGET = 255


class AppendOnly(TypeError):
    """Attempt to change or delete entries of the audit log."""

    def __init__(self) -> None:
        super().__init__("Entries of the audit log cannot be changed or deleted.")


class ActorKind(models.TextChoices):
    PERSON = "person", _("Person")
    KEY = "key", _("API key")
    OPERATOR = "operator", _("Operator")  # the admin, or the command line on the server
    SYSTEM = "system", _("System")
    # Attempt to sign in: `actor` is the account that was named, not the person who did it.
    VISITOR = "visitor", _("Not signed in")


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    def update(self, **_values: Any) -> NoReturn:
        raise AppendOnly

    def bulk_update(self, *_args: Any, **_options: Any) -> NoReturn:
        raise AppendOnly

    def delete(self) -> NoReturn:
        raise AppendOnly

    def delete_expired(self, before: datetime, chunk: int) -> int:
        """Delete at most `chunk` entries from before a moment, the oldest; return their number.

        Entries are created in the order of their times, so that the primary key is index enough.
        """
        oldest = self.order_by("pk").values_list("pk", "at")[:chunk]
        expired = [pk for pk, at in oldest if at < before]
        if expired:
            models.QuerySet.delete(self.filter(pk__in=expired))
        return len(expired)


class AuditEntry(models.Model):
    # References without a constraint: an entry stays as it is when its project or account is
    # deleted. Primary keys are never used again.
    project = models.ForeignKey(
        Project,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="audit",
        null=True,
        blank=True,
        verbose_name=_("project"),
    )
    # Project ID or e-mail address, and name of the project: they stay when it is deleted.
    subject = models.CharField(_("subject"), max_length=255, blank=True, default="", db_default="")
    project_name = models.CharField(
        _("project name"), max_length=100, blank=True, default="", db_default=""
    )
    at = models.DateTimeField(_("time"), auto_now_add=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="+",
        null=True,
        blank=True,
        verbose_name=_("person"),
    )
    actor_kind = models.CharField(
        _("kind of actor"),
        max_length=10,
        choices=ActorKind,
        default=ActorKind.OPERATOR,
        db_default=ActorKind.OPERATOR,
    )
    # E-mail address at that time; it stays when the account is deleted.
    actor_name = models.CharField(
        _("name of the actor"), max_length=254, blank=True, default="", db_default=""
    )
    actor_key = models.CharField(_("API key"), max_length=32, blank=True)  # its prefix
    address = models.CharField(
        _("address"), max_length=MAX_ADDRESS, blank=True, default="", db_default=""
    )
    action = models.CharField(_("action"), max_length=50)  # "key.create", "capture.now", …
    target = models.CharField(
        _("target"), max_length=MAX_TARGET, blank=True, default="", db_default=""
    )
    detail = models.JSONField(_("details"), default=dict)

    objects: ClassVar[AuditQuerySet] = AuditQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        # Each serves a page of the newest entries; the primary key orders those of one moment.
        indexes = [
            models.Index(fields=["project", "at", "id"], name="audit_by_time"),
            models.Index(fields=["project", "actor", "at", "id"], name="audit_by_actor"),
            models.Index(fields=["project", "action", "at", "id"], name="audit_by_action"),
            models.Index(fields=["actor", "at"], name="audit_by_person"),  # in all projects
        ]

    def __str__(self) -> str:
        return f"{self.at:%F %T} {self.action}"

    def save(self, *args: Any, **options: Any) -> None:
        if not self._state.adding:
            raise AppendOnly
        super().save(*args, **options)

    def delete(self, using: Any = None, keep_parents: bool = False) -> NoReturn:
        raise AppendOnly
