"""`/p/<project>/settings/prices`: currency, prices of cores and memory, factors of emissions."""

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from frontend.pages.prices.form import PricesForm
from frontend.text.money import describe_core_hour, format_money
from projects.access import membership
from projects.audit import Origin
from projects.models import Deployment, Project, User
from projects.permissions import Permission, has_permission
from projects.prices import (
    HOURS_A_MONTH,
    MAX_ZONES,
    InvalidPrice,
    PriceList,
    change_prices,
    load_price_list,
)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def prices(request: HttpRequest, project_id: str) -> HttpResponse:
    """Show the prices on GET, change them on POST."""
    member = membership(request.user, project_id)
    project = member.project
    current = load_price_list(project.pk)
    zones = _list_zones(project, current)
    form = PricesForm(current, zones, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            change_prices(
                project,
                form.values,
                actor=cast("User", request.user),
                origin=Origin.from_request(request),
            )
        except InvalidPrice as error:
            form.add_error(None, f"{error.name} {error}")
        else:
            messages.success(request, _("Prices saved"))
            return redirect("prices", project_id)
    context = {
        "project": project,
        "here": "settings",
        "member": member,
        "form": form,
        "may_change": has_permission(member.role, Permission.CHANGE_SETTINGS),
        "examples": _describe(current),
        "hours": HOURS_A_MONTH,
    }
    status = 400 if request.method == "POST" else 200
    return render(request, "frontend/prices/page.html", context, status=status)


def _list_zones(project: Project, prices: PriceList) -> list[str]:
    """Return the named zones of deployments and of prices, sorted, at most MAX_ZONES."""
    rows = Deployment.objects.filter(project=project).exclude(zone="")
    names = rows.order_by("zone").values_list("zone", flat=True).distinct()[:MAX_ZONES]
    return sorted({*names, *prices.zones})[:MAX_ZONES]


def _describe(prices: PriceList) -> dict[str, str]:
    """Return the prices as the pages show them, and the cost of a core for a month."""
    core = prices.price_cores(1, {})
    return {
        "core_hour": describe_core_hour(prices),
        "gib_hour": _format(prices.gib_hour, prices.currency),
        "core_month": _format(core, prices.currency),
    }


def _format(price: float | None, currency: str) -> str:
    return "" if price is None else format_money(price, currency)
