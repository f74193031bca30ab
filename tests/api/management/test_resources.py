"""Management resources: what each returns and changes."""

from datetime import timedelta

import pytest
from django.utils import timezone

from projects.models import ApiKey, AuditEntry, DayRejections, DayUsage, Member, Project, Role, User
from projects.usage.day_usage import utc_day
from tests.api.management.conftest import TokenClient
from tests.ingest.client import Client, assert_error_response

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real]


def url(client: Client, path: str = "") -> str:
    return f"/api/v1/projects/{client.project}{path}"


def test_user_lists_own_projects_with_roles(
    token_client: TokenClient, other_project: Project
) -> None:
    client = token_client(Role.VIEWER)
    assert client.request("GET", "/api/v1/user").json()["email"] == "viewer@token.example"
    rows = client.request("GET", "/api/v1/projects").json()["rows"]
    assert [(row["project"], row["role"]) for row in rows] == [(client.project, "viewer")]


def test_post_projects_creates_a_project_of_the_person(token_client: TokenClient) -> None:
    response = token_client(None).request("POST", "/api/v1/projects", json={"name": "Second Shop"})
    assert response.status_code == 201, response.text
    member = Member.objects.get(project__project_id=response.json()["project"])
    assert (member.user.email, member.role) == ("nobody@token.example", Role.OWNER)


def test_patch_changes_settings_and_records_person_and_token(
    token_client: TokenClient, project: Project
) -> None:
    client = token_client(Role.ADMIN)
    body = {"name": "Shop 2", "profiles_per_minute": 2, "adaptive_rate": True}
    changed = client.request("PATCH", url(client), json=body)
    assert body.items() <= changed.json().items()
    project.refresh_from_db()
    assert (project.name, project.profiles_per_minute) == ("Shop 2", 2.0)
    assert project.adaptive_rate
    entry = AuditEntry.objects.get(action="project.change")
    assert (entry.actor_kind, entry.actor_name) == ("person", "admin@token.example")
    assert client.key.startswith(entry.actor_key)
    assert len(entry.actor_key) > len("fwp_")


def test_prices_are_changed_field_by_field(token_client: TokenClient) -> None:
    client = token_client(Role.ADMIN)
    first = {"currency": "EUR", "core_hour": 0.034, "zones": {"eu-1": 0.05}}
    assert client.request("PATCH", url(client, "/prices"), json=first).status_code == 200
    second = {"core_hour": None, "gib_hour": 1}
    client.request("PATCH", url(client, "/prices"), json=second)
    assert client.request("GET", url(client, "/prices")).json() == {
        "currency": "EUR",
        "core_hour": None,
        "gib_hour": 1.0,
        "zones": {"eu-1": 0.05},
        "watts_per_core": 7.0,
        "power_usage_effectiveness": 1.7,
        "kg_co2_per_kwh": 0.379,
    }


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"currency": "euro"}, "three capital letters"),
        ({"core_hour": "1"}, "core_hour: must be a number"),
        ({"watts_per_core": None}, "watts_per_core: must not be null"),
        ({"gib_hour": -1}, "gib_hour: must be a number from 0"),
        ({"zones": [1]}, "zones: must be an object"),
        ({"zones": {"": 1}}, "zones: has a name that is empty"),
        ({"zones": {"eu-1": True}}, "zones: must be a number"),
    ],
)
def test_bad_prices_are_rejected(
    token_client: TokenClient, body: dict[str, object], word: str
) -> None:
    client = token_client(Role.ADMIN)
    response = client.request("PATCH", url(client, "/prices"), json=body)
    assert response.status_code == 400
    assert word in response.text


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"name": ""}, "name: is missing"),
        ({"name": "x" * 101}, "100 are allowed"),
        ({"profiles_per_minute": -1}, "from 0 to 60"),
        ({"profiles_per_minute": True}, "from 0 to 60"),
        ({"adaptive_rate": "on"}, "must be true or false"),
        ({"source_url": "javascript:alert(1)"}, "https://"),
        ({"project_id": "x"}, "is unknown; fields: name"),
    ],
)
def test_patch_with_a_bad_field_is_400_and_changes_nothing(
    token_client: TokenClient, project: Project, body: dict[str, object], word: str
) -> None:
    client = token_client(Role.OWNER)
    before = Project.objects.values().get(pk=project.pk)
    response = client.request("PATCH", url(client), json=body)
    assert_error_response(response, 400, "INVALID_ARGUMENT", word)
    assert Project.objects.values().get(pk=project.pk) == before


def test_members_are_listed_changed_and_removed(
    token_client: TokenClient, project: Project
) -> None:
    token_client(Role.VIEWER)
    client = token_client(Role.ADMIN)
    rows = client.request("GET", url(client, "/members")).json()["rows"]
    by_email = {row["email"]: row for row in rows}
    viewer = by_email["viewer@token.example"]
    path = url(client, f"/members/{viewer['id']}")
    assert client.request("PATCH", path, json={"role": "member"}).json()["role"] == "member"
    assert Member.objects.get(pk=viewer["id"]).role == Role.MEMBER
    assert client.request("DELETE", path).status_code == 204
    assert not Member.objects.filter(pk=viewer["id"]).exists()


def test_admin_cannot_make_owners(token_client: TokenClient) -> None:
    client = token_client(Role.ADMIN)
    own = Member.objects.get(user__email="admin@token.example")
    response = client.request("PATCH", url(client, f"/members/{own.pk}"), json={"role": "owner"})
    assert_error_response(response, 403, "PERMISSION_DENIED", "role")


def test_last_owner_cannot_leave(token_client: TokenClient, project: Project) -> None:
    Member.objects.filter(project=project).delete()
    client = token_client(Role.OWNER)
    own = Member.objects.get(user__email="owner@token.example")
    response = client.request("DELETE", url(client, f"/members/{own.pk}"))
    assert_error_response(response, 409, "FAILED_PRECONDITION", "no owner")


def test_viewer_leaves_but_removes_nobody(token_client: TokenClient) -> None:
    client = token_client(Role.VIEWER)
    token_client(Role.MEMBER)
    other = Member.objects.get(user__email="member@token.example")
    rejected = client.request("DELETE", url(client, f"/members/{other.pk}"))
    assert_error_response(rejected, 403, "PERMISSION_DENIED")
    own = Member.objects.get(user__email="viewer@token.example")
    assert client.request("DELETE", url(client, f"/members/{own.pk}")).status_code == 204
    assert client.request("GET", url(client)).status_code == 404


def test_invitation_by_link_is_created_listed_and_revoked(token_client: TokenClient) -> None:
    client = token_client(Role.ADMIN)
    made = client.request("POST", url(client, "/invitations"), json={"role": "member"})
    assert made.status_code == 201, made.text
    invitation = made.json()["rows"][0]
    assert "/invitations/" in invitation["link"] or "/invitation" in invitation["link"]
    listed = client.request("GET", url(client, "/invitations")).json()["rows"]
    assert [row["id"] for row in listed] == [invitation["id"]]
    assert "link" not in listed[0]
    path = url(client, f"/invitations/{invitation['id']}")
    assert client.request("DELETE", path).status_code == 204
    assert client.request("GET", url(client, "/invitations")).json()["rows"] == []


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"role": "owner"}, "viewer, member, admin"),
        ({"role": "member", "emails": ["not an address"]}, "not an address"),
        ({"role": "member", "emails": "a@b.example"}, "list of strings"),
        ({"role": "member", "emails": ["a@b.example"] * 21}, "20 are allowed"),
    ],
)
def test_invalid_invitation_is_400(
    token_client: TokenClient, body: dict[str, object], word: str
) -> None:
    client = token_client(Role.ADMIN)
    response = client.request("POST", url(client, "/invitations"), json=body)
    assert_error_response(response, 400, "INVALID_ARGUMENT", word)


def test_key_is_created_used_listed_and_revoked(token_client: TokenClient) -> None:
    client = token_client(Role.ADMIN)
    made = client.request(
        "POST", url(client, "/keys"), json={"name": "ci", "scopes": ["read"]}
    ).json()
    reader = Client(client.project, made["key"])
    assert reader.request("GET", url(client, "/services")).status_code == 200
    rows = client.request("GET", url(client, "/keys")).json()["rows"]
    row = next(row for row in rows if row["id"] == made["id"])
    assert row["scopes"] == ["read"]
    assert "key" not in row
    assert client.request("DELETE", url(client, f"/keys/{made['id']}")).status_code == 204
    assert reader.request("GET", url(client, "/services")).status_code == 401
    assert client.request("DELETE", url(client, f"/keys/{made['id']}")).status_code == 404


@pytest.mark.parametrize(
    ("field", "word"),
    [
        # The empty variable of a script must not make a key that never expires.
        ({"expires": ""}, "expires: '' is not an RFC 3339 time"),
        ({"expires": None}, "expires: must not be null"),
        ({"scopes": None}, "scopes: must not be null"),
    ],
    ids=str,
)
def test_empty_field_of_a_key_is_not_a_missing_one(
    token_client: TokenClient, field: dict[str, object], word: str
) -> None:
    client = token_client(Role.ADMIN)
    response = client.request("POST", url(client, "/keys"), json={"name": "ci", **field})
    assert_error_response(response, 400, "INVALID_ARGUMENT", word)
    assert not ApiKey.objects.filter(name="ci").exists()


def test_key_of_another_project_cannot_be_revoked(
    token_client: TokenClient, other_project: Project, stranger: Client
) -> None:
    client = token_client(Role.OWNER)
    foreign = ApiKey.objects.filter(project=other_project).first()
    assert foreign is not None
    response = client.request("DELETE", url(client, f"/keys/{foreign.prefix}"))
    assert_error_response(response, 404, "NOT_FOUND")
    foreign.refresh_from_db()
    assert foreign.revoked is None


def test_quotas_and_usage_are_those_of_the_project(
    token_client: TokenClient, project: Project, other_project: Project
) -> None:
    day = utc_day()
    DayUsage.objects.create(project=project, day=day, profiles=3, stored_bytes=500)
    DayUsage.objects.create(project=other_project, day=day, profiles=99)
    DayUsage.objects.create(project=project, day=day - timedelta(days=31), profiles=7)
    DayRejections.objects.create(project=project, day=day, reason="profiles_per_day", count=2)
    client = token_client(Role.VIEWER)
    limits = client.request("GET", url(client, "/quotas")).json()["rows"]
    per_day = next(row for row in limits if row["limit"] == "profiles_per_day")
    assert (per_day["allowed"], per_day["used"]) == (100_000, 3)
    usage = client.request("GET", url(client, "/usage")).json()
    assert [(row["day"], row["profiles"]) for row in usage["days"]] == [(day.isoformat(), 3)]
    assert usage["rejections"] == [
        {"day": day.isoformat(), "reason": "profiles_per_day", "count": 2}
    ]


def test_audit_log_is_filtered_and_paged(token_client: TokenClient) -> None:
    client = token_client(Role.ADMIN)
    for name in ("a", "b", "c"):
        client.request("PATCH", url(client), json={"name": name})
    params = {"action": "project.change", "size": 2}
    first = client.request("GET", url(client, "/audit"), params=params).json()
    assert [row["target"] for row in first["rows"]] == ["c", "b"]
    second = client.request(
        "GET", url(client, "/audit"), params=params | {"page": first["next_page"]}
    ).json()
    assert [row["target"] for row in second["rows"]] == ["a"]
    assert second["next_page"] is None
    later = (timezone.now() + timedelta(hours=1)).isoformat()
    assert (
        client.request("GET", url(client, "/audit"), params={"since": later}).json()["rows"] == []
    )


def test_tokens_are_listed_and_revoked_by_their_owner(token_client: TokenClient) -> None:
    client = token_client(Role.VIEWER)
    other = token_client(Role.ADMIN)
    row = client.request("GET", "/api/v1/tokens").json()["rows"][0]
    assert client.key.startswith(row["id"])
    path = f"/api/v1/tokens/{row['id']}"
    assert_error_response(other.request("DELETE", path), 404, "NOT_FOUND")
    assert client.request("DELETE", path).status_code == 204
    assert_error_response(client.request("GET", "/api/v1/user"), 401, "UNAUTHENTICATED", "revoked")


def test_account_of_a_token_is_needed(token_client: TokenClient) -> None:
    client = token_client(Role.OWNER)
    User.objects.filter(email="owner@token.example").update(is_active=False)
    assert client.request("GET", "/api/v1/user").status_code == 401


def test_quota_request_is_created_and_listed(token_client: TokenClient) -> None:
    client = token_client(Role.ADMIN)
    body = {"limit": "stored_bytes", "amount": 40 * 10**9, "reason": "Retention of 60 days"}
    made = client.request("POST", url(client, "/quota-requests"), json=body)
    assert made.status_code == 201, made.text
    [row] = client.request("GET", url(client, "/quota-requests")).json()["rows"]
    assert row == made.json()
    assert (row["allowed"], row["state"]) == (20 * 10**9, "open")
    assert row["created_by"] == "admin@token.example"
    again = client.request("POST", url(client, "/quota-requests"), json=body)
    assert_error_response(again, 400, "INVALID_ARGUMENT", "already waits")


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"limit": "nothing"}, "must be one of"),
        ({"amount": "40 GB"}, "whole number"),
        ({"amount": True}, "whole number"),
        ({"amount": 5}, "must be more than 20 GB"),
        ({"reason": ""}, "reason: is missing"),
        ({"reason": "x" * 301}, "300 are allowed"),
    ],
)
def test_bad_quota_request_is_400(
    token_client: TokenClient, changed: dict[str, object], word: str
) -> None:
    client = token_client(Role.ADMIN)
    body = {"limit": "stored_bytes", "amount": 40 * 10**9, "reason": "More", **changed}
    response = client.request("POST", url(client, "/quota-requests"), json=body)
    assert_error_response(response, 400, "INVALID_ARGUMENT", word)
