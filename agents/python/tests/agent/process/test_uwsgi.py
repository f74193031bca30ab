"""Check for the options that uWSGI needs."""

import sys
from types import SimpleNamespace

import pytest
from fake_server import FakeServer, never_responds

import flamewatch
from flamewatch.process.uwsgi import is_uwsgi, missing

BOTH = "--enable-threads and --py-call-uwsgi-fork-hooks"


def modules(*options: bytes) -> dict[str, object]:
    return {"uwsgi": SimpleNamespace(opt=dict.fromkeys(options, True))}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((b"master",), BOTH),
        ((b"enable-threads",), "--py-call-uwsgi-fork-hooks"),
        ((b"threads", b"py-call-osafterfork"), ""),
        ((b"enable-threads", b"py-call-uwsgi-fork-hooks"), ""),
        ((b"py-call-osafterfork",), "--enable-threads"),
    ],
)
def test_missing_options_are_named(options: tuple[bytes, ...], expected: str) -> None:
    assert missing(modules(*options)) == expected


def test_without_uwsgi_no_option_is_missing() -> None:
    assert missing({}) == ""
    assert missing({"uwsgi": SimpleNamespace()}) == ""


def test_uwsgi_is_recognized_by_the_name_of_its_executable() -> None:
    assert is_uwsgi(["/usr/bin/uwsgi", "--ini", "shop.ini"])
    assert not is_uwsgi(["gunicorn", "uwsgi"])


@pytest.mark.usefixtures("environment")
def test_start_without_the_options_logs_one_line(
    server: FakeServer, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.respond_with("POST", never_responds)
    monkeypatch.setitem(sys.modules, "uwsgi", modules()["uwsgi"])  # type: ignore[arg-type]
    flamewatch.start()
    assert lines == [f"flamewatch: workers will not be profiled: uWSGI needs {BOTH}."]
