import pytest

from flamewatch import environment

RESOURCE = {
    "OTEL_RESOURCE_ATTRIBUTES": "service.name=Shop%20Front,service.version=7,cloud.region=eu,odd,x="
}


@pytest.mark.parametrize(
    ("environ", "service"),
    [
        ({}, ""),
        ({"K_SERVICE": "run-service"}, "run-service"),
        ({"GAE_SERVICE": "default"}, "default"),
        ({"OTEL_SERVICE_NAME": "Shop Front"}, "shop-front"),
        (RESOURCE, "shop-front"),
        ({"OTEL_SERVICE_NAME": "first", **RESOURCE}, "first"),
        ({"FLAMEWATCH_SERVICE": "ours", "K_SERVICE": "theirs", **RESOURCE}, "ours"),
        ({"FLAMEWATCH_SERVICE": "", "K_SERVICE": "theirs"}, "theirs"),
        ({"OTEL_SERVICE_NAME": "---"}, ""),
    ],
)
def test_service_name_comes_from_the_platform(environ: dict[str, str], service: str) -> None:
    assert environment.service(environ) == service


def test_name_in_flamewatch_service_is_unchanged() -> None:
    assert environment.service({"FLAMEWATCH_SERVICE": "Check Out"}) == "Check Out"


def test_version_and_zone_come_from_the_platform_too() -> None:
    assert environment.version({"K_REVISION": "shop-00007", **RESOURCE}) == "shop-00007"
    assert environment.version(RESOURCE) == "7"
    assert environment.version({"FLAMEWATCH_VERSION": "8", "GAE_VERSION": "9"}) == "8"
    assert environment.zone(RESOURCE) == "eu"
    assert environment.zone({"FLAMEWATCH_ZONE": "eu-1", **RESOURCE}) == "eu-1"
    assert environment.zone({}) == ""


def test_adapted_name_is_cut_to_255_characters() -> None:
    assert len(environment.bend("A" * 300)) == 255
