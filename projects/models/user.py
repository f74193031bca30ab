"""User account with an e-mail address and a password."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from projects.models.project import Member, Project


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractUser):
    username = None  # type: ignore[assignment]  # the e-mail address is the name
    email = models.EmailField(_("e-mail address"), unique=True)
    max_projects = models.PositiveIntegerField(
        _("maximum number of projects"),
        null=True,
        blank=True,
        help_text=_(
            "Projects that this account may own. Empty means FLAMEWATCH_MAX_PROJECTS_PER_ACCOUNT."
        ),
    )

    editor_url = models.CharField(_("editor link template"), max_length=500, blank=True, default="")

    # Project that an operator visits read-only in this request (projects/visits.py).
    visited_project: "Project | None" = None

    receives_notices = models.BooleanField(
        _("e-mails about quotas and API keys"), default=True, db_default=True
    )

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.email

    @cached_property
    def sorted_memberships(self) -> "list[Member]":
        """Return the user's memberships with their projects, by project name.

        Projects that will be deleted are left out. Cached on the instance, which belongs to a
        single request.
        """
        mine = self.memberships.filter(project__deletion_due=None).select_related("project")
        return list(mine.order_by("project__name", "project__pk"))
