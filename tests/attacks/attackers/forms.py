"""Attacks by forms: sign-ups, sign-ins, and additions by somebody who is signed in."""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import httpx

from tests.attacks.bounds import ATTACK_SECONDS, PAUSE_SECONDS
from tests.attacks.server import Site
from tests.end_to_end.browser_forms import browser, post, signed_in

# Other attacks reach the limits of failed sign-ins from this machine.
SIGNED_IN_ADDRESS = "198.51.100.7"
LIMIT_SECONDS = 90.0  # until a limit is reached


@dataclass(slots=True)
class SubmittedForms:
    """The same form on several connections, until its limit is reached and for some seconds.

    `is_added` recognises the response to an addition, `is_rejected` the one above the limit.
    """

    path: Callable[[Site], str]
    fields: Callable[[int], dict[str, str]]  # of the form's number
    is_added: Callable[[httpx.Response], bool]
    is_rejected: Callable[[httpx.Response], bool]
    most: int  # additions
    email: str = ""  # of the account that is signed in; "": another anonymous client for each form
    connections: int = 3
    results: Counter[str] = field(default_factory=Counter)
    others: set[str] = field(default_factory=set)

    def __call__(self, site: Site) -> None:
        threads = [
            threading.Thread(target=self._submit, args=(site, number))
            for number in range(self.connections)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def unexpected(self) -> list[str]:
        found = [*self.others]
        if not 0 < self.results["added"] <= self.most or not self.results["rejected"]:
            found.append(f"{dict(self.results)}; at most {self.most} additions are allowed")
        return found

    def __str__(self) -> str:
        return str(dict(self.results))

    def _submit(self, site: Site, number: int) -> None:
        began = time.monotonic()
        with contextlib.ExitStack() as stack:
            session = (
                stack.enter_context(signed_in(site.server, self.email, SIGNED_IN_ADDRESS))
                if self.email
                else None
            )
            while not self._has_ended(time.monotonic() - began):
                number += self.connections
                with _client(site, session) as client:
                    self._note(post(client, self.path(site), **self.fields(number)))
                time.sleep(PAUSE_SECONDS)

    def _has_ended(self, seconds: float) -> bool:
        return seconds > (ATTACK_SECONDS if self.results["rejected"] else LIMIT_SECONDS)

    def _note(self, response: httpx.Response) -> None:
        if self.is_rejected(response):
            self.results["rejected"] += 1
        elif self.is_added(response):
            self.results["added"] += 1
        else:
            self.others.add(f"{response.status_code} {response.url.path}")


@contextlib.contextmanager
def _client(site: Site, session: httpx.Client | None) -> Iterator[httpx.Client]:
    if session is not None:
        session.timeout = httpx.Timeout(LIMIT_SECONDS)
        yield session
        return
    with browser(site.server) as client:
        client.timeout = httpx.Timeout(LIMIT_SECONDS)
        yield client


def sign_ups() -> SubmittedForms:
    """Return sign-ups from one address, ten of which are allowed in an hour."""
    return SubmittedForms(
        path=lambda _site: "/account/signup/",
        fields=lambda number: {
            "email": f"new-{number}@example.org",
            "password1": "a sentence works well",
            "project": "New",
        },
        is_added=lambda response: response.url.path.endswith("/setup"),
        is_rejected=lambda response: response.status_code == 429,
        most=10,
    )


def sign_ins() -> SubmittedForms:
    """Return sign-ins of unknown accounts from one address, ten of which may fail in a minute.

    "Added" is one whose password was compared.
    """
    return SubmittedForms(
        path=lambda _site: "/account/login/",
        fields=lambda number: {"login": f"no-{number}@example.org", "password": "a guess or two"},
        is_added=lambda response: response.status_code == 200 and "no-" in response.text,
        is_rejected=lambda response: response.status_code == 429 or "Too many" in response.text,
        most=2 * 30,  # in two minutes
    )


def new_projects() -> SubmittedForms:
    return SubmittedForms(
        path=lambda _site: "/projects/new",
        fields=lambda number: {"name": f"Project {number}"},
        is_added=lambda response: response.url.path.endswith("/setup"),
        is_rejected=lambda response: "MAX_PROJECTS_PER_ACCOUNT" in response.text,
        most=19,  # beside the one that the attacker has
        email="attacker@example.org",
    )


def new_keys() -> SubmittedForms:
    return SubmittedForms(
        path=lambda site: f"/p/{site.attacker.project}/settings/keys",
        fields=lambda number: {"name": f"key-{number}", "scope": "write"},
        is_added=lambda response: response.status_code == 200,
        is_rejected=lambda response: "MAX_KEYS_PER_PROJECT" in response.text,
        most=98,  # beside the two that the attacker has
        email="attacker@example.org",
    )
