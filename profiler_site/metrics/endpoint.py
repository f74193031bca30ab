"""Metrics for Prometheus at /metrics: of the processes of this machine and of the installation.

They count what all tenants do, so they are only for holders of FLAMEWATCH_METRICS_TOKEN; without
this setting there is nothing at the address. A module that counts something registers it in
common.metrics.REGISTRY.
"""

from asgiref.typing import ASGISendCallable, HTTPScope
from django.conf import settings
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, Metric, generate_latest

from common.metric_exchange import collect_processes
from common.metrics import REGISTRY
from profiler_site.metrics.installation import installation_metrics
from profiler_site.metrics.process import ProcessState
from profiler_site.operator_access import TOKEN_REQUIRED, is_operator
from profiler_site.text_response import send_text

PATH = "/metrics"

REGISTRY.register(ProcessState())


async def respond(scope: HTTPScope, send: ASGISendCallable) -> None:
    """Respond with the metrics, 401 without the token, or 404 if there is no token."""
    if not settings.METRICS_TOKEN:
        status, body = 404, "Not found.\n"
    elif not is_operator(scope):
        status, body = 401, TOKEN_REQUIRED
    else:
        families = [*collect_processes(), *await installation_metrics.collect()]
        status, body = 200, _text(families)
    await send_text(send, status, body, CONTENT_TYPE_PLAIN_0_0_4)


def _text(families: list[Metric]) -> str:
    registry = CollectorRegistry()
    registry.register(_Families(families))
    return generate_latest(registry).decode()


class _Families:
    """Collector of families that are collected already."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def describe(self) -> list[Metric]:
        return []  # the registry does not collect them to learn their names

    def collect(self) -> list[Metric]:
        return self._families
