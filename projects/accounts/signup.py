"""Sign-up: create an account and its first project in one form."""

from typing import Any, cast

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.forms import SignupForm as AllauthSignupForm
from django import forms
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from projects.models import Member, User
from projects.project_ids import create_project


class SignupAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return bool(settings.SIGNUP == "open")

    def get_signup_redirect_url(self, request: HttpRequest) -> str:
        """Return the setup page of the project that was created with the account."""
        member = Member.objects.filter(user=cast("User", request.user)).select_related("project")
        return reverse("setup", args=[member.get().project.project_id])


class SignupForm(AllauthSignupForm):  # type: ignore[misc]
    project = forms.CharField(
        label=_("Project"),
        max_length=100,
        help_text=_("One per team or product. You can rename it later."),
    )

    def save(self, request: HttpRequest) -> User:
        """Create the account and its project in one transaction."""
        with transaction.atomic():
            return cast("User", super().save(request))

    def custom_signup(self, request: HttpRequest, user: Any) -> None:
        if not isinstance(user, User):
            raise TypeError(f"a user was expected, not {type(user)}")
        create_project(self.cleaned_data["project"], user)
