"""A day of four people of two companies and an operator, with a mail server and single sign-on.

The server and its OpenID provider are processes of their own; the mail server runs in the test.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, Page, expect

from tests.identity_provider import server as identity_provider
from tests.identity_provider.server import IdentityProvider, running_provider
from tests.mail_server import ReceivedMail, serve_mail
from tests.server import PASSWORD, RunningServer, running_server

MARA, JON = "mara@acme.example", "jon@acme.example"
GINA, HAL = "gina@globex.example", "hal@globex.example"
OPERATOR = "operator@example.org"
ALLOWED_PROFILES = 10


@dataclass
class Companies:
    server: RunningServer
    mail: ReceivedMail
    provider: IdentityProvider
    browser: Browser
    home: Path

    def new_page(self) -> Page:
        """Return a page of a browser of its own, whose console must stay without errors."""
        context = self.browser.new_context(base_url=self.server.url, locale="en-GB")
        page = context.new_page()
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        return page

    def client(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "flamewatch_client.main", *arguments]
        return subprocess.run(
            command,
            env=self.client_environment | variables,
            text=True,
            capture_output=True,
            check=False,
        )

    @property
    def client_environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": "client/src",
            "XDG_CONFIG_HOME": str(self.home),
        }

    def send_notices(self) -> None:
        """Run the task that looks for facts every ten minutes."""
        self.server.run_code("from projects.notices import send_notices; send_notices()")


@pytest.fixture
def companies(browser: Browser, tmp_path: Path) -> Iterator[Companies]:
    with serve_mail() as mail, running_provider() as provider:
        environment = {
            "FLAMEWATCH_SMTP_URL": f"smtp://127.0.0.1:{mail.port}",
            "FLAMEWATCH_OIDC_ISSUER": provider.url,
            "FLAMEWATCH_OIDC_CLIENT_ID": identity_provider.CLIENT_ID,
            "FLAMEWATCH_OIDC_CLIENT_SECRET": identity_provider.CLIENT_SECRET,
            "FLAMEWATCH_OIDC_NAME": "Globex Login",
            "FLAMEWATCH_SSO_REQUIRED_DOMAINS": "globex.example",
        }
        with running_server(**environment) as server:
            provider.add_client(f"{server.url}/account/sso/oidc/login/callback/")
            for email in (GINA, HAL):
                provider.add_person(email)
            yield Companies(server, mail, provider, browser, tmp_path)


def compute_code(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time.time() / 30))))


def sign_up(companies: Companies) -> Page:
    """Mara signs up, sees the set-up page at once, and verifies her address afterwards."""
    page = companies.new_page()
    page.goto("/account/signup/")
    page.get_by_label("Work e-mail").fill(MARA)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Project").fill("Acme Shop")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", name="Connect a service")).to_be_visible()
    page.goto(companies.mail.wait_for_link(MARA, "Confirm", r"/account/confirm-email/\S+"))
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator(".toast")).to_have_text(f"You have confirmed {MARA}.")
    return page


def add_second_factor(page: Page) -> str:
    """Turn two factors on; return the secret of the authenticator app."""
    page.goto("/account/")
    page.get_by_role("link", name="Two factors").click()
    page.get_by_role("link", name="Activate").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    secret = page.get_by_label("Authenticator secret").input_value()
    page.get_by_label("Authenticator code").fill(compute_code(secret))
    page.get_by_role("button", name="Activate").click()
    expect(page.get_by_role("heading", name="Recovery Codes")).to_be_visible()
    return secret


def sign_in_with_code(companies: Companies, secret: str) -> Page:
    """Sign Mara in at another computer, half a minute later: a code is good once."""
    page = companies.new_page()
    page.goto("/account/login/")
    page.get_by_label("E-mail").fill(MARA)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    code_field = page.get_by_label("Code", exact=True)
    later = str(format_hotp_value(hotp_value(secret, int(time.time() / 30) + 1)))  # within 30 s
    code_field.fill(later)
    page.get_by_role("button", name="Sign In").click()
    expect(page.get_by_role("heading", name="Services")).to_be_visible()
    return page


def invite(page: Page, project: str, email: str, role: str) -> None:
    page.goto(f"/p/{project}/settings/members")
    page.get_by_role("link", name="Invite people").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("E-mail addresses").fill(email)
    dialog.get_by_label("Role").select_option(role)
    dialog.get_by_role("button", name="Invite").click()
    expect(page.locator("#invitations")).to_contain_text(email)


def open_invitation(companies: Companies, email: str) -> Page:
    page = companies.new_page()
    page.goto(companies.mail.wait_for_link(email, "Invitation", r"/invitations/\S+"))
    page.get_by_role("link", name="Create account").click()
    return page


def join_with_password(companies: Companies) -> Page:
    page = open_invitation(companies, JON)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.get_by_role("button", name="Join project").click()
    expect(page.locator(".toast")).to_have_text("You joined Acme Shop with the role member")
    page.goto("/p/acme-shop/settings/keys")
    expect(page.get_by_role("link", name="Create API key")).to_have_count(0)
    return page


def make_admin(page: Page) -> None:
    page.goto("/p/acme-shop/settings/members")
    page.get_by_label("Role of jon").select_option("admin")
    page.get_by_role("button", name="Change the role of jon").click()
    expect(page.locator(".toast")).to_have_text("jon now has the role admin")


def create_key(page: Page) -> str:
    """Create a key that expires; return its text."""
    page.goto("/p/acme-shop/settings/keys")
    page.get_by_role("link", name="Create API key").click()
    form = page.get_by_role("dialog", name="Create API key")
    form.locator("[name=name]").fill("production")
    form.locator("[name=expiry]").select_option("In 30 days")
    form.get_by_role("button", name="Create key").click()
    shown = page.locator("#new-key")
    expect(shown).to_have_text(re.compile(r"^fw_\w{49}$"))
    return shown.inner_text()


def lower_quota(companies: Companies) -> None:
    """Allow Acme few profiles a day, as an operator in the admin."""
    server = companies.server
    server.cli("user", "create", OPERATOR, "--admin", "--password-stdin", stdin=f"{PASSWORD}\n")
    page = companies.new_page()
    page.goto("/account/login/?next=/admin/")
    page.get_by_label("E-mail").fill(OPERATOR)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.goto("/admin/projects/project/?q=acme-shop")
    page.get_by_role("link", name="Open").click()
    page.locator("[name=profiles_per_day]").fill(str(ALLOWED_PROFILES))
    page.get_by_role("button", name="Save overrides").click()
    expect(page.locator(".messagelist .success")).to_be_visible()


def upload(companies: Companies, key: str, count: int) -> None:
    for number in range(count):
        file = companies.home / f"{number}.txt"
        file.write_text(f"main;parse {number + 1}\nmain;render 5")
        options = ("--service", "shop", "--version", "1", "--type", "CPU", "--duration", "10s")
        done = companies.client(
            *("upload", str(file), "--unit", "count", *options),
            FLAMEWATCH_URL=companies.server.url,
            FLAMEWATCH_KEY=key,
        )
        assert done.returncode == 0, done.stderr


def sign_in_at_provider(companies: Companies, page: Page, email: str) -> None:
    page.get_by_role("button", name="Continue with Globex Login").click()
    page.wait_for_url(f"{companies.provider.url}/**")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(identity_provider.PASSWORD)
    page.get_by_role("button", name="Sign In").click()
    page.get_by_role("button", name="Authorize").click()
    page.wait_for_url(f"{companies.server.url}/**")


def create_other_company(companies: Companies) -> Page:
    page = companies.new_page()
    page.goto("/account/login/")
    sign_in_at_provider(companies, page, GINA)
    expect(page.get_by_role("heading", name="New project")).to_be_visible()
    page.get_by_label("Name").fill("Globex Bank")
    page.get_by_role("button", name="Create project").click()
    expect(page.get_by_role("heading", name="Connect a service")).to_be_visible()
    response = page.goto("/p/acme-shop/services")
    assert response is not None
    assert response.status == 404
    return page


def join_by_single_sign_on(companies: Companies) -> None:
    page = open_invitation(companies, HAL)
    page.get_by_label("Password").fill(PASSWORD)  # the company requires its provider
    page.get_by_role("button", name="Create account").click()
    expect(page.locator("main")).to_contain_text("Accounts of your domain sign in by a provider")
    sign_in_at_provider(companies, page, HAL)
    page.get_by_role("button", name="Join project").click()
    expect(page.locator(".toast")).to_have_text("You joined Globex Bank with the role viewer")


def sign_in_program(companies: Companies, page: Page) -> str:
    """Confirm `flamewatch login` in Gina's browser; return the members that it then lists."""
    command = [sys.executable, "-m", "flamewatch_client.main", "login", companies.server.url]
    with subprocess.Popen(
        command,
        env=companies.client_environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as login:
        assert login.stderr is not None
        link = login.stderr.readline().removeprefix("Open ").strip()
        page.goto(link.removeprefix(companies.server.url))
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("heading", name="Program signed in")).to_be_visible()
        _, errors = login.communicate(timeout=60)
    assert login.returncode == 0, errors
    done = companies.client("members", "list", "--project", "globex-bank")
    assert done.returncode == 0, done.stderr
    foreign = companies.client("members", "list", "--project", "acme-shop")
    assert foreign.returncode == 1
    assert "acme" not in foreign.stderr.lower().replace("acme-shop", "")
    return done.stdout


def request_deletion(page: Page) -> None:
    page.goto("/p/acme-shop/settings/data")
    page.locator("#delete-profiles [name=service]").select_option("shop")
    page.get_by_role("button", name="Delete profiles…").click()
    page.get_by_label("Type shop to confirm").fill("shop")
    page.get_by_role("button", name="Delete profiles", exact=True).click()
    # It starts five minutes later: until then it can be canceled.
    expect(page.get_by_role("region", name="Deletions")).to_contain_text("Waiting to start")


def list_secrets(companies: Companies, *pages: Page) -> tuple[set[str], set[str]]:
    """Return what the server must not store, and what it may store, but log no more than that."""
    tokens = {
        found
        for path in companies.home.rglob("*")
        if path.is_file()
        for found in re.findall(r"fw\w*_\w{40,}", path.read_text(errors="replace"))
    }
    assert tokens  # of `flamewatch login`
    links = set()
    for message in companies.mail.messages:
        body = message.get_body(("plain",))
        assert body is not None
        links |= set(re.findall(r"/(?:invitations|confirm-email)/([^\s/]+)", body.get_content()))
    assert len(links) == 3
    sessions = {
        str(cookie.get("value"))
        for page in pages
        for cookie in page.context.cookies()
        if "session" in str(cookie.get("name"))
    }
    assert len(sessions) == len(pages)
    return {PASSWORD, identity_provider.PASSWORD, *tokens, *links}, sessions


def require_unwritten(secrets: set[str], files: Iterable[Path]) -> None:
    for path in files:
        content = path.read_bytes()
        assert not [secret for secret in secrets if secret.encode() in content], path


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_day_of_two_companies(companies: Companies) -> None:
    mail = companies.mail
    secret = add_second_factor(sign_up(companies))
    mara = sign_in_with_code(companies, secret)
    invite(mara, "acme-shop", JON, "member")
    jon = join_with_password(companies)
    make_admin(mara)
    key = create_key(jon)

    lower_quota(companies)
    upload(companies, key, ALLOWED_PROFILES * 8 // 10)
    mara.goto("/p/acme-shop/settings/usage")
    expect(mara.locator("main")).to_contain_text("80%")
    companies.send_notices()
    subject = "80% of a quota"
    assert mail.find(MARA, subject)
    assert mail.find(JON, subject)

    gina = create_other_company(companies)
    invite(gina, "globex-bank", HAL, "viewer")
    join_by_single_sign_on(companies)
    members = sign_in_program(companies, gina)
    assert GINA in members
    assert HAL in members
    assert MARA not in members

    request_deletion(mara)
    mara.goto("/p/acme-shop/settings/audit")
    log = mara.locator("main tbody")
    for person, action in (
        ("mara", "Created project"),
        ("mara", "Invited person"),
        ("mara", "Changed role"),
        ("jon", "Created API key"),
        ("Operator", "Changed quotas"),
        ("mara", "Requested deletion"),
    ):
        row = log.locator("tr").filter(has_text=action)
        expect(row).to_have_count(1)
        expect(row).to_contain_text(person)
    expect(log).not_to_contain_text("globex")
    gina.goto("/p/globex-bank/settings/audit")
    log = gina.locator("main tbody")
    expect(log).to_contain_text("Created project")
    expect(log).not_to_contain_text("acme")

    never_stored, stored = list_secrets(companies, mara, jon, gina)
    require_unwritten(never_stored | stored | {secret, key}, [companies.server.log])
    data = companies.server.data_dir
    folders = {data / "static", data / "disk-reserve"}
    files = [
        path for path in data.rglob("*") if path.is_file() and not folders & {path, *path.parents}
    ]
    assert any(path.suffix == ".sqlite3" for path in files), files
    require_unwritten(never_stored | {key}, files)
