"""`flamewatch check` with documents that real servers seldom return."""

from argparse import ArgumentParser
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from flamewatch_client.check_command import add_check, check
from flamewatch_client.connection import Pairs, ServerConnection
from flamewatch_client.errors import RequestFailed
from tests.client.check_documents import build_document


class DocumentConnection(ServerConnection):
    """Connection that returns one document for every request."""

    document: dict[str, Any]

    def get(self, path: str, pairs: Pairs = ()) -> Any:
        return self.document


def run_check(document: dict[str, Any]) -> int:
    parser = ArgumentParser()
    add_check(parser)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(["--service", "shop", "--base", "1", "--head", "2"])
    connection = DocumentConnection("https://a.example", "fw_x")
    object.__setattr__(connection, "document", document)
    with patch("flamewatch_client.stored_login.connect", return_value=connection):
        return check(options)


@pytest.fixture
def document() -> dict[str, Any]:
    side = np.random.default_rng(1).normal(100, 5, (12, 4))
    return build_document(side, side)


def test_server_without_p_of_totals_has_to_be_upgraded(document: dict[str, Any]) -> None:
    del document["whole"]["p"]
    with pytest.raises(RequestFailed, match="comparison has no 'p'"):
        run_check(document)


def test_profiles_that_were_left_out_are_named_with_their_side(
    document: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    document["missing"] = [{"profiles": 1200, "why": "The block cannot be read."}]
    document["b"]["missing"] = [{"profiles": 3, "why": "They have no metric cpu."}]
    assert run_check(document) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "Left out of the head: 1,200 profiles. The block cannot be read." in lines
    assert "Left out of the base: 3 profiles. They have no metric cpu." in lines
