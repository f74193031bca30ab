"""Discovery document of the API."""

from pytest_django import Settings

from projects.profile_types import ProfileType
from tests.ingest.client import Client


def test_discovery_document_has_this_server_and_its_methods(settings: Settings) -> None:
    settings.FLAMEWATCH_URL = "https://flamewatch.example.com"
    response = Client("-").request("GET", "/$discovery/rest?version=v2")
    document = response.json()
    assert document["rootUrl"] == "https://flamewatch.example.com/"
    methods = document["resources"]["projects"]["resources"]["profiles"]["methods"]
    called = {name: (method["httpMethod"], method["path"]) for name, method in methods.items()}
    assert called == {
        "create": ("POST", "v2/{+parent}/profiles"),
        "createOffline": ("POST", "v2/{+parent}/profiles:createOffline"),
        "patch": ("PATCH", "v2/{+name}"),
        "list": ("GET", "v2/{+parent}/profiles"),
    }
    schemas = document["schemas"]
    for method in methods.values():
        assert method["response"]["$ref"] in schemas
        assert method.get("request", {"$ref": "Profile"})["$ref"] in schemas
    assert set(schemas["Profile"]["properties"]["profileType"]["enum"]) == set(ProfileType)


def test_only_get_is_supported() -> None:
    assert Client("-").request("POST", "/$discovery/rest").status_code == 405
