"""Take screenshots of every page for docs/screenshots: light, dark and narrow.

Run by `make screenshots`, on a real server with a day of invented profiles. Compare each picture
with the intended design.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import django
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests import services
from tests.paths import ROOT
from tests.server import PASSWORD, RunningServer, running_server

if TYPE_CHECKING:
    from projects.models import Project

FOLDER = ROOT / "docs" / "screenshots"
OWNER = "mara@acme.example"
OPERATOR = "operator@flamewatch.example"
CHECKOUT = "service=checkout&type=CPU"
FINDING = "3f2a90c17b5e"
ALERT_RULE = "4e2a90c17b5f"


@dataclass(frozen=True, slots=True)
class Shot:
    """Page with its URL; `email` is the account that sees it, "" for nobody."""

    name: str
    address: str
    email: str = OWNER
    whole: bool = False  # the whole page, not only the window


SHOTS = (
    Shot("sign-up", "/account/signup/", ""),
    Shot("sign-in", "/account/login/", ""),
    Shot("services", "/p/acme-shop/services"),
    Shot("flame", f"/p/acme-shop/flame?{CHECKOUT}&span=6h"),
    Shot("compare", f"/p/acme-shop/compare?{CHECKOUT}&span=12h"),
    Shot("side-by-side", f"/p/acme-shop/compare?{CHECKOUT}&span=12h&side=sides"),
    Shot("history", f"/p/acme-shop/history?{CHECKOUT}&span=1d&step=30m"),
    Shot("breakdown", f"/p/acme-shop/breakdown?{CHECKOUT}&span=12h&group_by=label.endpoint"),
    Shot("embed", f"/p/acme-shop/embed?{CHECKOUT}&span=6h"),
    Shot("profiles", f"/p/acme-shop/profiles?{CHECKOUT}&span=1d"),
    Shot("insights", "/p/acme-shop/insights"),
    Shot("function-search", "/p/acme-shop/insights/functions?find=json"),
    Shot("findings", "/p/acme-shop/findings"),
    Shot("finding", f"/p/acme-shop/findings/{FINDING}", whole=True),
    Shot("alerts", "/p/acme-shop/alerts"),
    Shot("alert-rule", f"/p/acme-shop/alerts/rules/{ALERT_RULE}?test=1", whole=True),
    Shot("notifications", "/p/acme-shop/settings/notifications", whole=True),
    Shot("prices", "/p/acme-shop/settings/prices", whole=True),
    Shot("agents", "/p/acme-shop/agents"),
    Shot("deployments", "/p/acme-shop/agents?show=deployments"),
    Shot("setup", "/p/acme-shop/setup", whole=True),
    Shot("settings", "/p/acme-shop/settings", whole=True),
    Shot("concepts", "/help/concepts", ""),
    Shot("access-tokens", "/account/tokens", whole=True),
    Shot("confirm-device", "/device?code=BCDF-GHJK"),
    Shot("new-project", "/projects/new"),
    Shot("editor", "/account/editor"),
    Shot("account", "/account/", whole=True),
    Shot("members", "/p/acme-shop/settings/members"),
    Shot("api-keys", "/p/acme-shop/settings/keys"),
    Shot("usage", "/p/acme-shop/settings/usage", whole=True),
    Shot("audit-log", "/p/acme-shop/settings/audit"),
    Shot("export-and-delete", "/p/acme-shop/settings/data", whole=True),
    Shot("admin-overview", "/admin/", OPERATOR),
    Shot("admin-project", "/admin/projects/project/1/overview/", OPERATOR, whole=True),
    Shot("not-found", "/p/another/services"),
)
LOOKS: tuple[tuple[str, dict[str, object]], ...] = (
    ("light", {"color_scheme": "light", "viewport": {"width": 1440, "height": 900}}),
    ("dark", {"color_scheme": "dark", "viewport": {"width": 1440, "height": 900}}),
    ("390", {"color_scheme": "light", "viewport": {"width": 390, "height": 844}}),
)


def main(only: list[str]) -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with running_server() as server:
        _furnish(server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=services.browser(), args=["--no-sandbox", "--disable-gpu"]
            )
            for path in _pictures(browser, server.url, only):
                print(path.relative_to(FOLDER.parent.parent))
            browser.close()
    return 0


def _furnish(server: RunningServer) -> None:
    """Fill the server's database from this process."""
    server.add_project("Acme Shop", OWNER)
    files = server.data_dir / "agents"
    files.mkdir(exist_ok=True)
    (files / "flamewatch_agent-0.2.0-cp311-abi3-linux_x86_64.whl").touch()
    os.environ.update(server.environment, DJANGO_SETTINGS_MODULE="profiler_site.settings")
    django.setup()
    from projects.credentials import device_sign_in
    from projects.models import DeviceSignIn, Project, User
    from tests import sample_project

    now = datetime.now(UTC)
    owner, project = User.objects.get(email=OWNER), Project.objects.get()
    User.objects.filter(pk=owner.pk).update(first_name="Mara", last_name="Lindqvist")
    sample_project.people(project)
    sample_project.api_keys(project, owner, now)
    sample_project.services(project, now)
    sample_project.findings(project, owner, FINDING, now)
    sample_project.alerts(project, owner, ALERT_RULE, now)
    User.objects.create_superuser(OPERATOR, PASSWORD)
    _add_tenants(project, now)
    sign_in, _code = device_sign_in.begin("mara-laptop", "127.0.0.1")
    DeviceSignIn.objects.filter(pk=sign_in.pk).update(
        user_code="BCDFGHJK", expires=now + timedelta(hours=1)
    )


def _add_tenants(project: "Project", now: datetime) -> None:
    """Add usage of 30 days, other projects, and jobs for the overview of the operator."""
    from profiles.models import DeletionJob, DeletionScope, ExportJob
    from projects.models import DayRejections, DayUsage, Plan, Project
    from projects.usage.day_usage import utc_day

    plan = Plan.objects.create(name="Team", stored_bytes=50 * 10**9)
    names = ("Northwind Billing", "Tailspin Search", "Contoso Mobile")
    others = [
        Project.objects.create(project_id=name.lower().replace(" ", "-"), name=name, plan=plan)
        for name in names
    ]
    for number, each in enumerate([project, *others]):
        for ago in range(30):
            day = utc_day() - timedelta(days=ago)
            DayUsage.objects.update_or_create(
                project=each,
                day=day,
                defaults={
                    "profiles": 11_000 - 1_900 * number + 613 * (ago % 7),
                    "stored_bytes": 31_000_000 * (number + 1) * (1 + ago % 3),
                    "rejected": 412 if number == 0 and ago in {1, 2} else 0,
                },
            )
    DayRejections.objects.create(
        project=project, day=utc_day() - timedelta(days=1), reason="profiles_per_day", count=412
    )
    DeletionJob.objects.create(
        project=others[0],
        scope=DeletionScope.SERVICE,
        state="deleting",
        requested=now,
        due=now,
        request_entry=1,
        profiles=14_200,
        expected_profiles=61_000,
    )
    ExportJob.objects.create(
        project=others[1], state="running", requested=now, profiles=8_100, bytes=73_400_320
    )


def _pictures(browser: Browser, url: str, only: list[str]) -> Iterator[Path]:
    for look, options in LOOKS:
        contexts = {email: _context(browser, url, options) for email in ("", OWNER, OPERATOR)}
        for email, context in contexts.items():
            if email:
                _sign_in(context, email)
        for shot in SHOTS:
            if not only or shot.name in only:
                yield _picture(contexts[shot.email].new_page(), shot, look)
        for context in contexts.values():
            context.close()


def _context(browser: Browser, url: str, options: dict[str, object]) -> BrowserContext:
    return browser.new_context(
        base_url=url,
        locale="en-GB",
        timezone_id="Europe/Berlin",
        reduced_motion="reduce",
        **options,  # type: ignore[arg-type]
    )


def _sign_in(context: BrowserContext, email: str) -> None:
    page = context.new_page()
    page.goto("/account/login/")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/login/" not in url)
    page.close()


def _picture(page: Page, shot: Shot, look: str) -> Path:
    page.goto(shot.address)
    page.wait_for_load_state("networkidle")
    path = FOLDER / f"{shot.name}-{look}.png"
    whole = shot.whole or look == "390"
    if whole:
        _show_whole(page)
    page.screenshot(path=path, full_page=whole)
    page.close()
    return path


def _show_whole(page: Page) -> None:
    """Make the window as high as the page: graphs draw only what is visible."""
    size = page.viewport_size
    assert size
    height = int(page.evaluate("document.documentElement.scrollHeight"))
    page.set_viewport_size({"width": size["width"], "height": max(size["height"], height)})
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 200)))")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
