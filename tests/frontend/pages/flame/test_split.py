"""Flame page split by a label: control, chip, graph and links."""

import gzip
import html
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from projects.models import Project, User
from tests.frontend import labelled_shop, shop
from tests.frontend.html import render_html
from tests.profiles.engine.calltree import reference_ids

BY_ENDPOINT = {"split": "sample.endpoint"}


@pytest.fixture
def url(project: Project) -> str:
    now = timezone.now()
    times = [now - timedelta(minutes=minute) for minute in (1, 2, 3)]
    of = shop.deployment(project)
    labelled_shop.send(of, times, labelled_shop.stacks(), {"instance": "web-1"})
    return reverse("flame", args=[project.project_id])


@pytest.fixture
def member(client: Client, bob: User) -> Client:
    client.force_login(bob)
    return client


def page(client: Client, url: str, **parameters: str) -> str:
    response = client.get(url, parameters)
    assert response.status_code == 200
    return render_html(response)


def tree_address(text: str) -> str:
    found = re.search(r'src="([^"]*/flame/tree\?[^"]*)"', text)
    assert found
    return html.unescape(found[1])


def tree_of(client: Client, text: str) -> dict[str, Any]:
    response = client.get(tree_address(text))
    assert response.status_code == 200
    document: dict[str, Any] = json.loads(gzip.decompress(response.content))
    return document


def test_the_menu_has_the_labels_of_the_selection(member: Client, url: str) -> None:
    text = page(member, url)
    menu = text[text.index('<select name="split">') :]
    menu = menu[: menu.index("</select>")]
    values = re.findall(r'<option value="([^"]*)"', menu)
    assert values == ["", "version", "zone", "label.instance", "sample.endpoint"]
    assert "data-split" not in text


def test_a_split_page_has_a_chip_and_a_root_for_each_value(member: Client, url: str) -> None:
    text = page(member, url, **BY_ENDPOINT)
    assert '<option value="sample.endpoint" selected>' in text
    assert 'aria-label="Remove the split by endpoint"' in text
    document = tree_of(member, text)
    names = [document["names"][document["frames"]["name"][i]] for i in document["frame"]]
    roots = [name for name, depth in zip(names, document["depth"], strict=True) if not depth]
    assert roots == ["endpoint: /pay", "endpoint: /list", "endpoint: (not set)"]


def test_downloads_keep_the_split_and_links_to_other_pages_drop_it(
    member: Client, url: str
) -> None:
    text = page(member, url, **BY_ENDPOINT)
    links = [html.unescape(link) for link in re.findall(r'href="([^"]+)"', text)]
    folded = next(link for link in links if "/download/folded" in link)
    assert "split=sample.endpoint" in folded
    assert b"endpoint: /pay;main;shop.pay;shop.Rule.matches" in member.get(folded).content
    others = [link for link in links if "/compare?" in link or "/history?" in link]
    assert others
    assert not any("split=" in link for link in others)


def test_the_sandwich_and_the_list_are_not_split(member: Client, url: str) -> None:
    for parameters in ({"focus": "shop.pay"}, {"view": "list"}):
        text = page(member, url, **BY_ENDPOINT, **parameters)
        assert '<select name="split">' not in text
        assert "shop.pay" in text


def test_an_unreadable_split_is_reported_and_ignored(member: Client, url: str) -> None:
    text = page(member, url, split="colour")
    assert "data-split" not in text
    assert "Rule.matches" in text


def test_a_graph_with_too_many_nodes_when_split_is_shown_whole(
    member: Client, url: str, settings: Settings
) -> None:
    settings.MAX_QUERY_NODES = 6
    text = page(member, url, **BY_ENDPOINT)
    assert "FLAMEWATCH_MAX_QUERY_NODES allows 6 nodes" in text
    assert "data-split" not in text
    assert "split" not in tree_of(member, text)


def test_the_list_of_a_zoomed_value_has_its_functions(
    member: Client, url: str, project: Project
) -> None:
    address = tree_address(page(member, url, **BY_ENDPOINT))
    node = reference_ids.node_id((("endpoint: /list", "", 0),))
    functions = address.replace(
        reverse("flame_tree", args=[project.project_id]),
        reverse("flame_functions", args=[project.project_id]),
    )
    response = member.get(f"{functions}&frame={node:016x}")
    assert response.status_code == 200
    assert re.findall(r'data-name="([^"]+)"', render_html(response)) == ["shop.list", "main"]
