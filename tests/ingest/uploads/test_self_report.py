"""Self-report of an agent in its profile."""

import pytest

from ingest.uploads.decoding import self_report
from projects.registration.agent_reports import SelfReport


def test_it_reads_what_our_agent_says() -> None:
    comments = (
        "flamewatch.agent=flamewatch-python/0.1.0",
        "flamewatch.sampler=native",
        "flamewatch.samples=990",
        "flamewatch.samples_dropped=10",
        "flamewatch.samples_dropped.torn=10",
        "flamewatch.sampler_cpu_ns=4000000",
        "flamewatch.agent_cpu_ns=1000000",
    )
    assert self_report(comments) == SelfReport("native", 990, 10, 5_000_000)


def test_other_agents_say_nothing_of_themselves() -> None:
    assert self_report(("https://blog.example/profiling", "flamewatch.samples")) == SelfReport()


@pytest.mark.parametrize("value", ["-1", "1e9", "", "٣", "9" * 40, "NaN"])
def test_a_value_that_is_no_number_is_ignored(value: str) -> None:
    said = self_report((f"flamewatch.agent_cpu_ns={value}", f"flamewatch.samples_dropped={value}"))
    assert (said.cpu_ns, said.dropped) == (None, None)


def test_texts_are_bounded_and_harmless() -> None:
    assert self_report(["flamewatch.sampler=\x1b[31m" + "n" * 100]).sampler == "[31m" + "n" * 27
