"""`name{label=value,…}`."""

import pytest

from endpoints.errors import BadField
from ingest.pyroscope.app_name import read_app_name


@pytest.mark.parametrize(
    ("text", "name", "labels"),
    [
        ("shop", "shop", {}),
        ("shop{}", "shop", {}),
        (" shop { } ", "shop", {}),
        ("a.b{x=1,y.z=2}", "a.b", {"x": "1", "y.z": "2"}),
        ("a{x=/p/q r+s==t}", "a", {"x": "/p/q r+s==t"}),
        ("a{ x = 1 , y = }", "a", {"x": "1", "y": ""}),
        ("a{x=1", "a", {"x": "1"}),
        ("a{x=1}rest,y=2", "a", {"x": "1"}),
        ("a{x=1,x=2}", "a", {"x": "2"}),
        ('a{x="1"}', "a", {"x": '"1"'}),
    ],
)
def test_name_is_parsed_with_its_labels(text: str, name: str, labels: dict[str, str]) -> None:
    assert read_app_name(text) == (name, labels)


@pytest.mark.parametrize("text", ["", " ", "{a=1}", "shop{a}", "shop{a=1,b}"])
def test_invalid_name_is_rejected(text: str) -> None:
    with pytest.raises(BadField, match=r"^name: "):
        read_app_name(text)
