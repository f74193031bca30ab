"""Findings in all states, for tests of pages and the API."""

from datetime import UTC, datetime, timedelta
from typing import Any

from findings.models import (
    AnalysisStatus,
    Direction,
    Finding,
    FindingEvent,
    FindingEventKind,
    ServiceDetection,
)
from projects.models import Project

FOUND = datetime(2026, 11, 20, 12, tzinfo=UTC)
MS = 1e6  # in ns
CHECKS = [
    {"stage": "samples", "passed": True, "evidence": {"relative_error": 0.012}, "functions": []},
    {"stage": "size", "passed": True, "evidence": {"relative": 0.23}, "functions": []},
    {
        "stage": "traffic",
        "passed": True,
        "evidence": {"score": 9.1, "share_score": 8.7},
        "functions": [],
    },
    {"stage": "change_point", "passed": True, "evidence": {"hours_ago": 36.0}, "functions": []},
    {
        "stage": "significance",
        "passed": True,
        "evidence": {"p": 1.2e-11, "max_p": 2e-7, "chi_square": 82.0},
        "functions": [],
    },
    {
        "stage": "went_away",
        "passed": True,
        "evidence": {"remaining": 0.97, "score": 7.9},
        "functions": [],
    },
    {
        "stage": "seasonality",
        "passed": True,
        "evidence": {"same_hours": 0.0, "remaining": 1.02, "score": 8.8},
        "functions": [],
    },
    {"stage": "cost_shift", "passed": True, "evidence": {"moved": 0.08}, "functions": ["shop.tax"]},
    {
        "stage": "duplicate",
        "passed": True,
        "evidence": {"hours_apart": 0.0},
        "functions": ["shop.price"],
    },
]


def add_finding(project: Project, **changes: Any) -> Finding:
    """Store a finding: 23 % more self time of shop.price since version 2 of the service shop."""
    fields: dict[str, Any] = {
        "service": "shop",
        "type": "CPU",
        "unit": "nanoseconds",
        "function": "shop.price",
        "file": "shop/price.py",
        "is_self": True,
        "direction": Direction.REGRESSION,
        "change_time": FOUND - timedelta(hours=36),
        "found": FOUND,
        "change": 23 * MS,
        "low": 19 * MS,
        "high": 27 * MS,
        "before": 100 * MS,
        "after": 123 * MS,
        "profile_total": 2000 * MS,
        "duration_ns": 10 * 10**9,
        "p": 1.2e-11,
        "rank": 0.6,
        "profiles_before": 14_400,
        "profiles_after": 2_160,
        "version_before": "1",
        "version": "2",
        "merged": ["shop.checkout"],
        "points": [100 * MS] * 100 + [123 * MS] * 12,
        "points_end": FOUND,
        "checks": CHECKS,
    }
    finding = Finding.objects.create(project=project, **fields | changes)
    FindingEvent.objects.create(finding=finding, time=finding.found, kind=FindingEventKind.FOUND)
    return finding


def add_detection(project: Project, **changes: Any) -> ServiceDetection:
    fields: dict[str, Any] = {
        "service": "shop",
        "type": "CPU",
        "time": FOUND,
        "status": AnalysisStatus.ANALYZED,
        "first_hour": FOUND - timedelta(days=23),
        "functions": 120,
        "profiles_a_day": 1440.0,
        "detectable": 0.034,
        "ruled_out": {"cost_shift": 1, "traffic": 2},
    }
    return ServiceDetection.objects.create(project=project, **fields | changes)
