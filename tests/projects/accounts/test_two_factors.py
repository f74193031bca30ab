"""Two factors: codes of an authenticator app, recovery codes, and their reset by an operator."""

import time

import pytest
from allauth.mfa.internal.constants import LoginStageKey
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.test import Client
from django.urls import reverse

from projects.accounts import two_factors
from projects.models import AuditEntry, Project, User
from tests.frontend.html import render_html

pytestmark = pytest.mark.django_db

PASSWORD = "a sentence works well"
SECRET = "JBSWY3DPEHPK3PXP"


@pytest.fixture
def mara(project: Project) -> User:
    user = User.objects.create_user("mara@example.org", PASSWORD)
    TOTP.activate(user, SECRET)
    return user


def code(at: float | None = None) -> str:
    counter = int((time.time() if at is None else at) / 30)
    return str(format_hotp_value(hotp_value(SECRET, counter)))


def sign_in(client: Client) -> str:
    response = client.post(
        reverse("account_login"), {"login": "mara@example.org", "password": PASSWORD}
    )
    return response.headers.get("Location", "")


def is_signed_in(client: Client) -> bool:
    return client.get(reverse("account")).status_code == 200


def test_password_alone_does_not_sign_in(client: Client, mara: User) -> None:
    assert sign_in(client).startswith(reverse("mfa_authenticate"))
    assert not is_signed_in(client)
    assert LoginStageKey.MFA_AUTHENTICATE.value in str(client.session.items())
    assert not AuditEntry.objects.filter(action="account.sign_in").exists()


def test_right_code_signs_in_with_another_session(client: Client, mara: User) -> None:
    sign_in(client)
    before = client.session.session_key
    client.post(reverse("mfa_authenticate"), {"code": code()})
    assert is_signed_in(client)
    assert client.session.session_key != before
    assert AuditEntry.objects.filter(action="account.sign_in", actor=mara).exists()


def test_wrong_and_old_codes_are_rejected(client: Client, mara: User) -> None:
    sign_in(client)
    for wrong in ("000000", code(time.time() - 600)):
        client.post(reverse("mfa_authenticate"), {"code": wrong})
        assert not is_signed_in(client)


def test_code_is_good_for_one_sign_in(client: Client, mara: User) -> None:
    used = code()
    sign_in(client)
    client.post(reverse("mfa_authenticate"), {"code": used})
    assert is_signed_in(client)
    other = Client()
    sign_in(other)
    other.post(reverse("mfa_authenticate"), {"code": used})
    assert not is_signed_in(other)


def test_secret_is_stored_encrypted(mara: User) -> None:
    row = Authenticator.objects.get(user=mara, type=Authenticator.Type.TOTP)
    assert SECRET not in str(row.data)
    assert two_factors.TwoFactorAdapter().decrypt(row.data["secret"]) == SECRET


def test_activation_asks_for_the_password_and_a_code(client: Client, alice: User) -> None:
    client.force_login(alice)
    address = reverse("mfa_activate_totp")
    assert client.get(address).headers["Location"].startswith(reverse("account_reauthenticate"))
    assert not two_factors.has_two_factors(alice)


def test_activation_and_removal_are_in_the_audit_log(client: Client, mara: User) -> None:
    sign_in(client)
    client.post(reverse("mfa_authenticate"), {"code": code()})
    rejected = client.post(reverse("mfa_deactivate_totp"))
    assert rejected.headers["Location"].startswith(reverse("account_reauthenticate"))
    assert two_factors.has_two_factors(mara)
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    client.post(reverse("mfa_deactivate_totp"))
    assert AuditEntry.objects.get(action="account.factor_remove").actor == mara
    assert not two_factors.has_two_factors(mara)


def test_operator_resets_the_factors_of_a_person(client: Client, mara: User) -> None:
    operator = User.objects.create_superuser("operator@example.org", PASSWORD)
    admin = Client()
    admin.force_login(operator)
    action = {"action": "reset_factors", "_selected_action": [mara.pk]}
    page = admin.post(reverse("admin:projects_user_changelist"), action, follow=True)
    assert "1 user signs in with the password alone now." in render_html(page)
    entry = AuditEntry.objects.get(action="account.factors_reset")
    assert (entry.actor, entry.actor_kind, entry.target) == (operator, "operator", mara.email)
    sign_in(client)
    assert is_signed_in(client)


def test_staff_without_the_right_resets_nothing(mara: User) -> None:
    staff = User.objects.create_user("staff@example.org", PASSWORD, is_staff=True)
    admin = Client()
    admin.force_login(staff)
    action = {"action": "reset_factors", "_selected_action": [mara.pk]}
    assert admin.post(reverse("admin:projects_user_changelist"), action).status_code == 403
    assert two_factors.has_two_factors(mara)
