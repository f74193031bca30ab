"""Django admin for the operator: projects, quotas and users; other rows are read-only."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from projects.admin import (
    agent,
    annotation,
    api_key,
    audit_entry,
    day_rejections,
    deployment,
    overview_page,
    plan,
    project,
    quota,
    saved_view,
    user,
)

__all__ = [
    "agent",
    "annotation",
    "api_key",
    "audit_entry",
    "day_rejections",
    "deployment",
    "overview_page",
    "plan",
    "project",
    "quota",
    "saved_view",
    "user",
]

admin.site.site_header = admin.site.site_title = _("Flamewatch")
admin.site.index_title = _("Administration")
admin.site.index_template = "admin/overview.html"
admin.site.index = overview_page.add_overview(admin.site.index)  # type: ignore[method-assign,assignment]
# Everyone signs in at the site's sign-in page, which limits the number of attempts.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
