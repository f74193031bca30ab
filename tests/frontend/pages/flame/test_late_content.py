"""The flame page through ASGI: its head is sent before the merge ends, which its tree shares."""

import asyncio
import gzip
import html
import json
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from frontend.pages.flame import merged_tree
from profiles.query import DeadlinePassed, InvalidQuery, run_tree_and_top
from projects.models import Project, User
from tests.frontend import shop
from tests.frontend.page_browser import Browser, flame, signed_in, until

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]
EARLY = re.compile(r'early-tree\.[^"]*"\s+data-url="([^"]+)"')


class BlockedMerge:
    """Merge of the page, which waits until the test opens it, with the number of its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.open = threading.Event()
        self.error: Exception | None = None

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        assert self.open.wait(60)
        if self.error:
            raise self.error
        return run_tree_and_top(*arguments)


@pytest.fixture
def merge(monkeypatch: pytest.MonkeyPatch) -> Iterator[BlockedMerge]:
    made = BlockedMerge()
    monkeypatch.setattr(merged_tree, "run_tree_and_top", made)
    yield made
    made.open.set()


@pytest.fixture
def shown(project: Project, alice: User) -> Browser:
    shop.send(shop.deployment(project), shop.minutes_before(timezone.now(), 3))
    return Browser(flame(project), signed_in(alice))


async def _begin(shown: Browser) -> "asyncio.Task[Browser]":
    request = asyncio.create_task(shown.get())
    await until(lambda: len(shown.sent) == 2)
    return request


def _tree_of(shown: Browser) -> Browser:
    found = EARLY.search(shown.text)
    assert found
    path, _, query = html.unescape(found[1]).partition("?")
    tree = Browser(path)
    tree._scope["headers"] = shown._scope["headers"]
    tree._scope["query_string"] = query.encode()
    return tree


def test_the_head_is_sent_before_the_merge_ends(shown: Browser, merge: BlockedMerge) -> None:
    async def get() -> None:
        request = await _begin(shown)
        assert shown.status == 200
        assert '<link rel="stylesheet"' in shown.text
        assert "<title>checkout" in shown.text
        assert 'class="top"' in shown.text
        assert 'id="flame"' not in shown.text
        assert b"content-security-policy" in shown.headers
        assert b"content-length" not in shown.headers
        merge.open.set()
        await request
        assert shown.text.index('id="flame"') < shown.text.index("</html>")
        assert "<late-content>" not in shown.text

    asyncio.run(get())


def test_the_page_and_its_tree_share_one_merge(shown: Browser, merge: BlockedMerge) -> None:
    async def get() -> None:
        request = await _begin(shown)
        tree = _tree_of(shown)
        of_tree = asyncio.create_task(tree.get())
        await until(lambda: merge.calls == 1)
        merge.open.set()
        await asyncio.gather(request, of_tree)
        body = b"".join(message.get("body", b"") for message in tree.sent[1:])
        assert json.loads(gzip.decompress(body))["profiles"] == 3
        assert merge.calls == 1

    asyncio.run(get())


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (DeadlinePassed(), "Query timed out after 20 s"),
        (InvalidQuery("Too many nodes."), "Too many nodes."),
        (ValueError("a bug"), "Server error"),
    ],
    ids=["deadline", "limit", "bug"],
)
def test_an_error_of_the_merge_is_in_the_page(
    shown: Browser, merge: BlockedMerge, error: Exception, sentence: str
) -> None:
    merge.error = error
    merge.open.set()
    asyncio.run(shown.get())
    assert shown.status == 200
    assert sentence in shown.text
    assert shown.text.rstrip().endswith("</html>")


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/p/{}/flame", "snapshot=" + "0" * 32, 404),
        ("/p/another-project/flame", "", 404),
        ("/p/{}/flame/tree", "", 400),
        ("/p/{}/flame/tree", "service=checkout&type=CPU&root=0000000000000001", 400),
    ],
)
def test_errors_before_the_merge_keep_their_status(
    shown: Browser, project: Project, path: str, query: str, status: int
) -> None:
    shown._scope["path"] = path.format(project.project_id)
    shown._scope["query_string"] = query.encode()
    asyncio.run(shown.get())
    assert shown.status == status


def test_head_request_needs_no_merge(shown: Browser, merge: BlockedMerge) -> None:
    shown._scope["method"] = "HEAD"
    asyncio.run(shown.get())
    assert (shown.status, shown.text, merge.calls) == (200, "", 0)


def test_a_large_tree_begins_with_a_preview(
    shown: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profiles.queries.tree.PREVIEW_NODES", 4)
    asyncio.run(shown.get())
    tree = _tree_of(shown)
    whole = _tree_of(shown)
    query = tree._scope["query_string"]
    assert isinstance(query, bytes)
    whole._scope["query_string"] = query.replace(b"&preview=1", b"")
    first, all_ = (_document(each) for each in (tree, whole))
    assert first["preview"] is True
    assert "preview" not in all_
    assert len(first["frame"]) == 4
    assert sum(first["folded"]["count"]) == len(all_["frame"]) - 4
    assert sum(first["self"]) + sum(first["folded"]["total"]) == sum(all_["self"])


def _document(tree: Browser) -> dict[str, Any]:
    asyncio.run(tree.get())
    body = b"".join(message.get("body", b"") for message in tree.sent[1:])
    document: dict[str, Any] = json.loads(gzip.decompress(body))
    return document
