import pytest
from fakes import KEY

from flamewatch import config
from flamewatch.config import Arguments, Config, Problems

ENOUGH = {
    "FLAMEWATCH_KEY": KEY,
    "FLAMEWATCH_URL": "https://profiles.example.org/",
    "FLAMEWATCH_SERVICE": "checkout",
}


NOTHING = Arguments()


def read(arguments: Arguments = NOTHING, **environ: str) -> Config:
    found = config.read(arguments, ENOUGH | environ)
    assert isinstance(found, Config), found
    return found


def problems(arguments: Arguments = NOTHING, **environ: str) -> tuple[str, ...]:
    found = config.read(arguments, ENOUGH | environ)
    assert isinstance(found, Problems), found
    return found.found


def test_key_url_and_service_are_sufficient() -> None:
    found = read()
    assert (found.key, found.url, found.service) == (
        KEY,
        "https://profiles.example.org",
        "checkout",
    )
    assert (found.project, found.version, found.zone) == ("-", "", "")
    assert not found.thread_names


def test_arguments_come_before_the_environment() -> None:
    given = Arguments(
        "basket", "2.0", "eu-2", "fw_another_key", "http://localhost:8000", "acme", True
    )
    found = read(given, FLAMEWATCH_VERSION="1.0", FLAMEWATCH_ZONE="eu-1")
    assert found == Config(
        "fw_another_key",
        "http://localhost:8000",
        "acme",
        "basket",
        "2.0",
        "eu-2",
        thread_names=True,
    )


@pytest.mark.parametrize("text", ["", "on-request", "ON-REQUEST"])
def test_memory_is_counted_on_request_by_default_and_in_any_case(text: str) -> None:
    assert read(FLAMEWATCH_HEAP=text).heap == "on-request"
    assert read(Arguments(heap=text)).heap == "on-request"


@pytest.mark.parametrize("text", ["start", "off"])
def test_heap_accepts_start_and_off(text: str) -> None:
    assert read(FLAMEWATCH_HEAP=text).heap == text


def test_invalid_heap_setting_is_a_problem_that_names_the_allowed_values() -> None:
    (problem,) = problems(FLAMEWATCH_HEAP="later")
    assert problem == ("FLAMEWATCH_HEAP (or heap=) is 'later'; use on-request, start or off")


def test_every_missing_setting_is_reported_at_once() -> None:
    found = config.read(Arguments(), {})
    assert isinstance(found, Problems)
    assert len(found.found) == 3
    for name in ("FLAMEWATCH_KEY", "FLAMEWATCH_URL", "FLAMEWATCH_SERVICE"):
        assert name in str(found)


@pytest.mark.parametrize("name", ["Check Out", "-checkout", "a" * 256, "été"])
def test_a_service_has_cloud_profilers_syntax(name: str) -> None:
    [problem] = problems(Arguments(service=name))
    assert "lower-case letters" in problem


def test_invalid_service_name_gets_a_proposal() -> None:
    [problem] = problems(Arguments(service="Check Out"))
    assert "for example 'check-out'" in problem


@pytest.mark.parametrize(
    "url",
    [
        "profiles.example.org",
        "ftp://profiles.example.org",
        "https://",
        "https://user:pass@profiles.example.org",
        "https://profiles.example.org?x=1",
        "https://profiles.example.org:port",
        "https://profiles example.org",
        "https://profiles.example.org/\r\nX: y",
    ],
)
def test_an_address_is_http_and_nothing_but_an_address(url: str) -> None:
    [problem] = problems(FLAMEWATCH_URL=url)
    assert "https://HOST" in problem


def test_an_address_may_have_a_path() -> None:
    assert read(FLAMEWATCH_URL="https://example.org/flame/").url == "https://example.org/flame"


@pytest.mark.parametrize("key", ["fw_with a space", "fw_with\nanother line", "fw_ümlaut-key", "x"])
def test_a_key_that_cannot_be_one_is_rejected_without_showing_it(key: str) -> None:
    [problem] = problems(Arguments(key=key))
    assert key not in problem


def test_the_key_is_not_in_what_is_printed_of_the_configuration() -> None:
    assert KEY not in repr(read())
    assert KEY not in repr(Arguments(key=KEY))


def test_labels_are_bounded() -> None:
    assert "513 bytes" in problems(FLAMEWATCH_VERSION="v" * 513)[0]
    assert "control character" in problems(FLAMEWATCH_ZONE="eu\x001")[0]


def test_idle_waits_are_off_by_default() -> None:
    assert read(FLAMEWATCH_IDLE_WAITS="1").idle_waits
    assert not read().idle_waits
    assert not read(Arguments(idle_waits=False), FLAMEWATCH_IDLE_WAITS="1").idle_waits


def test_tasks_are_off_by_default() -> None:
    assert read(FLAMEWATCH_TASKS="1").tasks
    assert not read(FLAMEWATCH_TASKS="off").tasks
    assert not read().tasks
    assert not read(Arguments(tasks=False), FLAMEWATCH_TASKS="1").tasks


def test_thread_names_are_off_by_default() -> None:
    assert read(FLAMEWATCH_THREAD_NAMES="yes").thread_names
    assert not read(FLAMEWATCH_THREAD_NAMES="0").thread_names
    assert not read(Arguments(thread_names=False), FLAMEWATCH_THREAD_NAMES="1").thread_names
    assert "FLAMEWATCH_THREAD_NAMES" in problems(FLAMEWATCH_THREAD_NAMES="perhaps")[0]


def test_arguments_of_a_wrong_type_are_no_crash() -> None:
    assert read(Arguments(version=3.1)).version == "3.1"  # type: ignore[arg-type]
