"""Profiles contain none of the agent's own functions."""

from pathlib import Path

import flamewatch
from flamewatch.capture.stacks import Frame, Stack
from flamewatch.profile.own_frames import host_stacks

PACKAGE = Path(flamewatch.__file__).parent
VIEW = Frame("view", "/srv/shop/views.py", 7, 5)
MAIN = Frame("<module>", "/srv/shop/main.py", 3, 1)
ACQUIRE = Frame("Condition.wait", "/usr/lib/python3.13/threading.py", 7, 5)


def own(file: str, function: str = "run") -> Frame:
    return Frame(function, str(PACKAGE / file), 9, 8)


def shown(*frames: Frame) -> list[tuple[Frame, ...]]:
    return [found.frames for found in host_stacks([Stack(frames, 5, 1, 7, "", cut=False)])]


def test_stack_without_agent_frames_is_unchanged() -> None:
    stack = Stack((VIEW, MAIN), 5, 1, 7, "", cut=False)
    assert [*host_stacks([stack])] == [stack]


def test_a_middleware_and_a_decorator_are_taken_out_of_the_stack() -> None:
    for file in ("middleware/django.py", "labelling/context.py"):
        assert shown(VIEW, own(file), MAIN) == [(VIEW, MAIN)]
    assert shown(VIEW, own("labelling/context.py"), own("middleware/asgi.py"), MAIN) == [
        (VIEW, MAIN)
    ]


def test_stack_that_ends_in_the_agent_is_left_out() -> None:
    assert shown(own("process/bell.py"), own("process/lifecycle.py"), MAIN) == []
    assert shown(ACQUIRE, own("process/lifecycle.py"), MAIN) == []
    assert shown(own("labelling/context.py"), MAIN) == []


def test_a_package_of_a_similar_name_is_the_hosts() -> None:
    similar = Frame("view", f"{PACKAGE}_site/views.py", 1, 1)
    assert shown(similar, MAIN) == [(similar, MAIN)]
