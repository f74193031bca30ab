"""Admin pages of users, who have an e-mail address instead of a user name."""

from typing import Any, cast

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.contrib.auth.forms import UserChangeForm as DjangoUserChangeForm
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from projects import audit
from projects.accounts import two_factors
from projects.admin.read_only import operator_origin
from projects.models import User

# Fields whose values the audit log shows; a password is none.
_AUDITED = {"email", "is_active", "is_staff", "is_superuser", "max_projects"}

_PASSWORD_PAGE = "auth_user_password_change"  # noqa: S105  a name of a URL

# Permissions come from project memberships, never from Django's groups.
admin.site.unregister(Group)
# People manage these on their account page; the action of users removes factors.
admin.site.unregister(Authenticator)
admin.site.unregister(UserSession)
# Providers are configured by settings; a token would be a secret.
admin.site.unregister([SocialAccount, SocialApp, SocialToken])


class UserAddForm(AdminUserCreationForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ["email"]


class UserChangeForm(DjangoUserChangeForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ["email", "password", "is_active", "is_staff", "is_superuser", "max_projects"]


@admin.register(User)
class UserAdmin(DjangoUserAdmin):  # type: ignore[type-arg]
    form = UserChangeForm
    add_form = UserAddForm
    list_display = ["email", "is_active", "is_superuser", "date_joined", "last_login"]
    list_filter = ["is_active", "is_superuser"]
    search_fields = ["email"]
    ordering = ["email"]
    readonly_fields = ["date_joined", "last_login"]
    filter_horizontal = []
    actions = ["reset_factors"]
    fieldsets = [
        (None, {"fields": ["email", "password"]}),
        (_("Permissions"), {"fields": ["is_active", "is_staff", "is_superuser"]}),
        (_("Limits"), {"fields": ["max_projects"]}),
        (_("Dates"), {"fields": ["date_joined", "last_login"]}),
    ]
    add_fieldsets = [
        (None, {"fields": ["email", "usable_password", "password1", "password2"]}),
    ]

    @admin.action(
        description=_("Remove the second factors of the selected users"), permissions=["change"]
    )
    def reset_factors(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        actor, origin = cast("User", request.user), operator_origin(request)
        count = sum(two_factors.reset(user, actor=actor, origin=origin) for user in queryset)
        message = ngettext(
            "%(n)d user signs in with the password alone now.",
            "%(n)d users sign in with the password alone now.",
            count,
        )
        messages.success(request, message % {"n": count})

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)  # in the transaction of the admin's view
        changes = {
            name: [form.initial.get(name), form.cleaned_data.get(name)]
            for name in form.changed_data
            if name in _AUDITED
        }
        _record(request, obj, "user.change" if change else "user.create", changes=changes)

    def user_change_password(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        with transaction.atomic():
            return super().user_change_password(request, *args, **options)

    def log_change(self, request: HttpRequest, obj: User, message: Any) -> Any:
        """Add the entry of a new password, for which `save_model` is not called."""
        if request.resolver_match and request.resolver_match.url_name == _PASSWORD_PAGE:
            _record(request, obj, "account.password_change")
        return super().log_change(request, obj, message)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        with transaction.atomic():
            _record(request, obj, "user.delete")
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            self.delete_model(request, user)


def _record(request: HttpRequest, account: User, action: str, **detail: object) -> None:
    audit.record_account(
        account,
        action,
        actor=cast("User", request.user),
        origin=operator_origin(request),
        **detail,
    )
