from flamewatch.transport.outage import Outage


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_outage_and_its_end_are_logged_once_each() -> None:
    lines: list[str] = []
    clock = Clock()
    outage = Outage(lines.append, clock)
    outage.fail("server", "it is dead")
    for _ in range(100):
        clock.now += 3
        outage.fail("server", "it is dead")
    outage.over("http://server")
    outage.over("http://server")
    assert lines == ["it is dead", "http://server works again, after 5 min."]


def test_another_kind_of_failure_is_logged_once() -> None:
    lines: list[str] = []
    outage = Outage(lines.append)
    for _ in range(10):
        outage.fail("server", "it is dead")
        outage.fail("key", "the key is refused")
    assert lines == ["it is dead", "the key is refused"]


def test_next_outage_is_logged_again() -> None:
    lines: list[str] = []
    outage = Outage(lines.append)
    for _ in range(2):
        outage.fail("server", "it is dead")
        outage.over("it")
    assert lines == ["it is dead", "it works again, after 0 s."] * 2


def test_an_outage_can_end_silently() -> None:
    lines: list[str] = []
    outage = Outage(lines.append)
    outage.fail("upload", "lost")
    outage.forget()
    outage.fail("upload", "lost")
    assert lines == ["lost", "lost"]


def test_success_without_an_outage_is_silent() -> None:
    lines: list[str] = []
    Outage(lines.append).over("it")
    assert lines == []
