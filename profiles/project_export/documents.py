"""Description of a project in its archive, by fields that are listed: never a key or a hash."""

from typing import Any

from projects.archive_sections import read_sections
from projects.models import (
    Annotation,
    Deployment,
    Member,
    Prices,
    Project,
    Quota,
    SavedView,
    Webhook,
)
from projects.models.quota import LimitFields

VERSION = 1  # of the archive's format
_SETTINGS = (
    *("project_id", "name", "created", "profiles_per_minute", "source_url", "source_root"),
    *("adaptive_rate", "retention_days"),
)


_PRICES = (
    *("currency", "core_hour", "gib_hour", "zones"),
    *("watts_per_core", "power_usage_effectiveness", "kg_co2_per_kwh"),
)


def describe_project(project: Project) -> dict[str, Any]:
    """Return the content of project.json."""
    limits = [field.name for field in LimitFields._meta.get_fields()]
    quota = Quota.objects.filter(project=project).values(*limits).first()
    deployments = Deployment.objects.filter(project=project).order_by("service", "zone", "version")
    rows = list(
        deployments.values("service", "zone", "version", "first_seen", "last_seen").iterator()
    )
    return {
        "version": VERSION,
        "project": Project.objects.values(*_SETTINGS).get(pk=project.pk),
        "quotas": quota or {},
        "members": [
            {"email": each.user.email, "role": each.role}
            for each in Member.objects.filter(project=project).select_related("user").order_by("pk")
        ],
        "services": sorted({row["service"] for row in rows}),
        "deployments": rows,
        "saved_views": list(
            SavedView.objects.filter(project=project)
            .order_by("pk")
            .values("name", "page", "query", "created", "created_by__email")
        ),
        "notes": list(
            Annotation.objects.filter(project=project)
            .order_by("pk")
            .values(
                *("at", "service", "version", "function", "text", "link", "created"),
                "created_by__email",
            )
        ),
        "prices": Prices.objects.filter(project=project).values(*_PRICES).first(),
        # Not their URLs, which often are secrets themselves.
        "webhooks": list(
            Webhook.objects.filter(project=project)
            .order_by("pk")
            .values("name", "format", "kinds", "created", "created_by__email")
        ),
        **read_sections(project),
    }
