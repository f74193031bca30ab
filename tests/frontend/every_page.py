"""Every page and every fragment, with a day of data.

Tests of properties that hold for all pages take them from this module.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from findings import states
from projects import audit, saved_views
from projects.audit import Origin
from projects.models import ActorKind, Annotation, AuditEntry, Project, User
from tests import sample_project
from tests.findings.factory import add_detection, add_finding

P = "/p/acme-shop"
OF = "service=checkout&type=CPU&span=1d"
NOTE = 4711
ENTRY = 4711
FINDING = "3f2a90c17b5e"
ALERT_RULE = "4e2a90c17b5f"
HTMX = {"HX-Request": "true"}


@dataclass(frozen=True, slots=True)
class Shown:
    """Page or fragment: `view` is the name of its URL, `address` a URL with everything on it."""

    name: str
    view: str
    address: str
    fragment: bool = False  # requested by htmx
    stranger: bool = False  # for visitors who are not signed in

    def __str__(self) -> str:
        return f"{self.name}, fragment" if self.fragment else self.name

    @property
    def headers(self) -> dict[str, str]:
        return HTMX if self.fragment else {}


PAGES = (
    Shown("sign up", "account_signup", "/account/signup/", stranger=True),
    Shown("sign in", "account_login", "/account/login/", stranger=True),
    Shown("sign out", "account_logout", "/account/logout/"),
    Shown("change password", "account_change_password", "/account/password/change/"),
    Shown("account", "account", "/account/"),
    Shown("two factors", "mfa_index", "/account/2fa/"),
    Shown("tokens", "tokens", "/account/tokens"),
    Shown("confirm device", "confirm_device", "/device"),
    Shown("language", "language", "/account/language"),
    Shown("editor", "editor", "/account/editor"),
    Shown("new project", "new_project", "/projects/new"),
    Shown("services", "services", f"{P}/services"),
    Shown("flame", "flame", f"{P}/flame?{OF}&f=hide:nothing&f=highlight:django&search=pricing"),
    Shown("bottom-up", "flame", f"{P}/flame?{OF}&view=bottomup&recursion=folded&flip=bottom"),
    Shown("sandwich", "flame", f"{P}/flame?{OF}&focus=Rule.matches"),
    Shown("list", "flame", f"{P}/flame?{OF}&view=list"),
    Shown("embed", "embed", f"{P}/embed?{OF}"),
    Shown("compare", "compare", f"{P}/compare?{OF}&version=2.31.0&b.version=2.30.4"),
    Shown("side by side", "compare", f"{P}/compare?{OF}&side=sides&version=2.31.0&b.version="),
    Shown("history", "history", f"{P}/history?{OF}&step=1h"),
    Shown("breakdown", "breakdown", f"{P}/breakdown?{OF}&f=hide:nothing"),
    Shown("breakdown by label", "breakdown", f"{P}/breakdown?{OF}&group_by=label.endpoint"),
    Shown("profiles", "profiles", f"{P}/profiles?{OF}"),
    Shown("profiles as a table", "profiles", f"{P}/profiles?{OF}&table=1&order=heaviest"),
    Shown("notes", "notes", f"{P}/notes?service=checkout"),
    Shown("new note", "new_note", f"{P}/notes/new?service=checkout"),
    Shown("new note of a function", "new_note", f"{P}/notes/new?service=checkout&function=f"),
    Shown("edit note", "edit_note", f"{P}/notes/{NOTE}"),
    Shown("delete note", "delete_note", f"{P}/notes/{NOTE}/delete"),
    Shown("findings", "findings", f"{P}/findings"),
    Shown("improvements", "findings", f"{P}/findings?direction=improvement"),
    Shown("finding", "finding", f"{P}/findings/{FINDING}"),
    Shown("alerts", "alerts", f"{P}/alerts"),
    Shown("create alert rule", "new_alert_rule", f"{P}/alerts/rules"),
    Shown("alert rule", "alert_rule", f"{P}/alerts/rules/{ALERT_RULE}?test=1"),
    Shown("agents", "agents", f"{P}/agents"),
    Shown("deployments", "agents", f"{P}/agents?show=deployments"),
    Shown("saved", "saved", f"{P}/saved"),
    Shown("set-up", "setup", f"{P}/setup"),
    Shown("settings", "settings", f"{P}/settings"),
    Shown("members", "members", f"{P}/settings/members"),
    Shown("invite people", "invite", f"{P}/settings/members/invite"),
    Shown("leave", "leave_project", f"{P}/settings/members/leave"),
    Shown("API keys", "api_keys", f"{P}/settings/keys"),
    Shown("create API key", "new_key", f"{P}/settings/keys/new"),
    Shown("insights", "insights", f"{P}/insights"),
    Shown("function search", "search_functions", f"{P}/insights/functions?find=json"),
    Shown("notifications", "notifications", f"{P}/settings/notifications"),
    Shown("prices", "prices", f"{P}/settings/prices"),
    Shown("usage", "usage", f"{P}/settings/usage"),
    Shown("audit log", "audit", f"{P}/settings/audit?entry={ENTRY}"),
    Shown("delete data", "data", f"{P}/settings/data"),
    Shown("delete profiles", "delete_selection", f"{P}/settings/data/profiles?service=checkout"),
    Shown("delete project", "delete_project", f"{P}/settings/data/project"),
    Shown("deleted projects", "deleted_projects", "/projects/deleted"),
    Shown("concepts", "concepts", "/help/concepts", stranger=True),
)
# Pages whose text is in English only.
REFERENCES = (
    Shown("API documentation", "api_docs", "/help/api/queries", stranger=True),
    Shown("management API", "api_docs", "/help/api/management", stranger=True),
)
"""What an empty project, an empty selection and a mistake look like."""
STATES = (
    Shown("no such project", "services", "/p/another/services"),
    Shown("no such page", "", "/nowhere"),
    Shown("no such service", "services", f"{P}/services?find=nothing-has-this-name"),
    Shown("no profiles", "flame", f"{P}/flame?{OF}&end=2026-01-01T00:00Z"),
    Shown("everything filtered out", "flame", f"{P}/flame?{OF}&f=show:nothing"),
    Shown("nothing to compare", "compare", f"{P}/compare?{OF}&end=2026-01-01T00:00Z"),
    Shown("no history", "history", f"{P}/history?{OF}&end=2026-01-01T00:00Z"),
    Shown("no breakdown", "breakdown", f"{P}/breakdown?{OF}&end=2026-01-01T00:00Z"),
    Shown("no such invitation", "invitation", "/invitations/no-such-token", stranger=True),
    Shown("no samples", "flame", f"{P}/flame?{OF}&sample.endpoint=nothing"),
    Shown("no profiles to list", "profiles", f"{P}/profiles?{OF}&end=2026-01-01T00:00Z"),
    Shown("no such agent", "agents", f"{P}/agents?find=nothing-has-this-name"),
    Shown("no such finding", "findings", f"{P}/findings?find=nothing-has-this-name"),
    Shown("no such entry", "audit", f"{P}/settings/audit?find=nothing-has-this-name"),
    Shown("an address that cannot be read", "agents", f"{P}/agents?show=pods&page=0"),
)
_OF_FUNCTION = "name=Rule.matches&file=/app/shop/pricing/discounts.py"
FRAGMENTS = (
    Shown("services", "services", f"{P}/services?find=e", fragment=True),
    Shown("flame", "flame", f"{P}/flame?{OF}", fragment=True),
    Shown("sandwich", "flame", f"{P}/flame?{OF}&focus=Rule.matches", fragment=True),
    Shown("functions", "flame_functions", f"{P}/flame/functions?{OF}&from=0", fragment=True),
    Shown("over time", "flame_over_time", f"{P}/flame/over-time?{OF}", fragment=True),
    Shown("lines", "flame_lines", f"{P}/flame/lines?{OF}&{_OF_FUNCTION}", fragment=True),
    Shown("breakdown", "breakdown", f"{P}/breakdown?{OF}&sort=name", fragment=True),
    Shown("profiles", "profiles", f"{P}/profiles?{OF}", fragment=True),
    Shown("agents", "agents", f"{P}/agents", fragment=True),
    Shown("deployments", "agents", f"{P}/agents?show=deployments", fragment=True),
    Shown("create API key", "new_key", f"{P}/settings/keys/new", fragment=True),
    Shown("audit log", "audit", f"{P}/settings/audit?who=key", fragment=True),
    Shown("findings", "findings", f"{P}/findings?state=all", fragment=True),
    Shown("suggested id", "suggested_id", "/projects/new/id?name=Shop", fragment=True),
    Shown("invite people", "invite", f"{P}/settings/members/invite", fragment=True),
    Shown("leave", "leave_project", f"{P}/settings/members/leave", fragment=True),
    Shown("exports", "exports", f"{P}/settings/data/exports", fragment=True),
    Shown("deletions", "deletions", f"{P}/settings/data/deletions", fragment=True),
    Shown("set-up's progress", "setup_status", f"{P}/setup/status", fragment=True),
)


def furnish(project: Project, owner: User, now: datetime) -> None:
    """Add members, keys, and eight services with a day of profiles, one profile an hour each."""
    sample_project.people(project)
    sample_project.invite(project, owner, now)
    sample_project.api_keys(project, owner, now)
    sample_project.services(project, now, step=timedelta(hours=1))
    saved_views.create(project, "Checkout, last day", f"{P}/flame?{OF}", actor=owner)
    notes(project, owner, now)
    audit_entries(project, owner)
    findings(project, owner, now)
    sample_project.alerts(project, owner, ALERT_RULE, now)


def findings(project: Project, owner: User, now: datetime) -> None:
    """Add findings in several states, FINDING with a history, and analyses."""
    times = {"found": now, "change_time": now - timedelta(hours=36), "points_end": now}
    finding = add_finding(
        project,
        finding_id=FINDING,
        service="checkout",
        function="shop.pricing.Rule.matches",
        **times,
    )
    states.acknowledge(finding, actor=owner, origin=Origin("192.0.2.7"), note="known")
    add_finding(project, service="catalog", before=0.0, version="", **times)
    add_finding(project, direction="improvement", change=-20e6, after=80e6, **times)
    add_detection(project)
    add_detection(project, service="till", status="little_history", detectable=None)


def notes(project: Project, owner: User, now: datetime) -> None:
    """Add a note at a time within the pages' range, and one of a function."""
    of = {"project": project, "service": "checkout"}
    Annotation.objects.create(
        **of,
        pk=NOTE,
        at=now - timedelta(hours=3),
        version="2.31.0",
        text="deploy 2.31.0",
        link="https://ci.example/builds/31",
        created_key="fw_abcdefghij",
    )
    Annotation.objects.create(
        **of, function="Rule.matches", text="Compiles its pattern anew", created_by=owner
    )


def audit_entries(project: Project, owner: User) -> None:
    """Add an entry of each kind of actor; the one with details is ENTRY."""
    origin = Origin("192.0.2.7")
    for kind in ActorKind:
        audit.record(
            project,
            "account.sign_in_failed" if kind is ActorKind.VISITOR else "key.create",
            actor=owner if kind in {ActorKind.PERSON, ActorKind.VISITOR} else None,
            actor_key="fw_abcdefghij" if kind is ActorKind.KEY else "",
            origin=Origin(origin.address, kind),
            target="production-eu",
        )
    AuditEntry.objects.create(
        **{"pk": ENTRY, "project": project, "subject": project.project_id},
        **{"actor": owner, "actor_kind": ActorKind.PERSON, "actor_name": owner.email},
        **{"action": "project.change", "target": project.name, "address": "2001:db8::7"},
        detail={"changed": {"name": ["Acme", project.name]}, "reason": "rename"},
    )
