"""URLs of the management resources; each action declares its permission."""

from django.urls import URLPattern, path

from api.management import (
    account,
    alert_rules,
    audit,
    data_jobs,
    keys,
    members,
    prices,
    projects,
    usage,
    webhooks,
)
from api.management.call import AccountResource, ProjectResource
from api.management.view import ManagementView

RESOURCES: tuple[AccountResource | ProjectResource, ...] = (
    *account.RESOURCES,
    *projects.RESOURCES,
    *prices.RESOURCES,
    *members.RESOURCES,
    *keys.RESOURCES,
    *usage.RESOURCES,
    *data_jobs.RESOURCES,
    *alert_rules.RESOURCES,
    *audit.RESOURCES,
    *webhooks.RESOURCES,
)


def route(resource: AccountResource | ProjectResource) -> str:
    if isinstance(resource, AccountResource):
        return f"api/v1/{resource.path}"
    return f"api/v1/projects/<str:project>{resource.path}"


urlpatterns: list[URLPattern] = [
    path(route(resource), ManagementView.as_view(resource=resource)) for resource in RESOURCES
]
