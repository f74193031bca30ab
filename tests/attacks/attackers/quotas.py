"""Attack by uploads of a project, more of them than one of its quotas allows."""

import base64
import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tests.attacks.bounds import RepeatedRequests, Request
from tests.attacks.server import Site
from tests.ingest.pprof import SIMPLE

ACCEPTED, REJECTED = 200, 429


class RejectedByQuota:
    """Small profiles of a project with one low quota, which each connection sends one by one.

    A quota of bytes allows as many profiles as have so many bytes as they are sent.
    """

    def __init__(self, **quota: int) -> None:
        self._quota = quota
        self._statuses: Counter[int] = Counter()
        self._others: list[str] = []

    def __call__(self, site: Site) -> None:
        (name,) = self._quota
        email = f"{name.replace('_', '-')}@example.org"
        tenant = site.server.add_tenant("Crowd", email, **self._quota)
        path = f"/v2/projects/{tenant.project}/profiles:createOffline"
        headers = {"Authorization": f"Bearer {tenant.write}"}
        uploads = RepeatedRequests(
            lambda _site: _distinct(path, headers), frozenset({ACCEPTED, REJECTED}), 4, pause=0.01
        )
        uploads(site)
        self._statuses, self._others = uploads.statuses, uploads.unexpected()

    def unexpected(self) -> list[str]:
        ((name, amount),) = self._quota.items()
        # The quota of a minute may begin anew once.
        allowed = 2 * amount if name == "profiles_per_minute" else amount // len(SIMPLE)
        found = [*self._others]
        if not 0 < self._statuses[ACCEPTED] <= allowed or not self._statuses[REJECTED]:
            found.append(f"{dict(self._statuses)}; at most {allowed} are allowed")
        return found

    def __str__(self) -> str:
        return str(dict(self._statuses))


def _distinct(path: str, headers: dict[str, str]) -> Sequence[Request]:
    """Return uploads of the same profile at distinct times, which are distinct profiles."""
    now, sent = datetime.now(UTC), base64.b64encode(SIMPLE).decode()
    times = (now - timedelta(milliseconds=number) for number in range(5000))
    fields = {"profileType": "CPU", "deployment": {"target": "crowd"}, "duration": "10s"}
    bodies = ({**fields, "startTime": at.isoformat(), "profileBytes": sent} for at in times)
    return [Request("POST", path, json.dumps(body).encode(), headers) for body in bodies]
