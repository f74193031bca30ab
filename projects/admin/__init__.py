"""The operator's pages: quotas first of all; what agents and people did is read only."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from projects.admin import agent, api_key, audit_entry, deployment, project, quota, user

__all__ = ["agent", "api_key", "audit_entry", "deployment", "project", "quota", "user"]

admin.site.site_header = admin.site.site_title = _("Flamewatch")
admin.site.index_title = _("Administration")
# One door for everyone: the site's sign-in page, with its limits of tries.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
