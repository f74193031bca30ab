"""Self-report of an agent in its profile."""

import pytest

from ingest.uploads.pipeline import parse_self_report
from projects.registration.agent_reports import SelfReport


def test_comments_of_our_agent_are_parsed() -> None:
    comments = (
        "flamewatch.agent=flamewatch-python/0.1.0",
        "flamewatch.sampler=native",
        "flamewatch.samples=990",
        "flamewatch.samples_dropped=10",
        "flamewatch.samples_dropped.torn=10",
        "flamewatch.sampler_cpu_ns=4000000",
        "flamewatch.agent_cpu_ns=1000000",
    )
    assert parse_self_report(comments) == SelfReport("native", 990, 10, 5_000_000)


def test_comments_of_other_agents_are_ignored() -> None:
    comments = ("https://blog.example/profiling", "flamewatch.samples")
    assert parse_self_report(comments) == SelfReport()


@pytest.mark.parametrize("value", ["-1", "1e9", "", "٣", "9" * 40, "NaN"])
def test_a_value_that_is_no_number_is_ignored(value: str) -> None:
    report = parse_self_report(
        (f"flamewatch.agent_cpu_ns={value}", f"flamewatch.samples_dropped={value}")
    )
    assert (report.cpu_ns, report.dropped) == (None, None)


def test_texts_are_cut_and_control_characters_removed() -> None:
    report = parse_self_report(["flamewatch.sampler=\x1b[31m" + "n" * 100])
    assert report.sampler == "[31m" + "n" * 27
