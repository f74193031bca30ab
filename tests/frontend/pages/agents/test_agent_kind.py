"""Names of agent kinds for users."""

import pytest

from frontend.pages.agents.agent_kind import agent_kind


@pytest.mark.parametrize(
    ("user_agent", "language", "kind"),
    [
        ("flamewatch-python/1.0.2", "python", "Python 1.0.2"),
        ("flamewatch-node/0.3.0 node/22", "", "Node.js 0.3.0"),
        ("gcloud-go-profiler/0.4.2 grpc-go/1.60", "go", "Go, Cloud Profiler 0.4.2"),
        ("gcloud-python-profiler", "", "Python, Cloud Profiler"),
        ("curl/8.5.0 (x86_64)", "java", "Java, curl/8.5.0"),
        ("", "ruby", "Ruby"),
        ("", "", ""),
    ],
)
def test_agent_kind_is_derived_from_the_user_agent(
    user_agent: str, language: str, kind: str
) -> None:
    assert agent_kind(user_agent, language) == kind


def test_agent_kind_of_long_texts_is_cut() -> None:
    assert len(agent_kind("x" * 255, "y" * 512)) < 130
