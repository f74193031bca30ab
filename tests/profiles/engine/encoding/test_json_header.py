"""Metrics and sample labels of stored trees and blocks: only texts are read."""

import pytest

from profiles.engine.calltree.tree import Label
from profiles.engine.encoding.json_header import read_label_sets, read_metrics
from profiles.engine.metrics import Metric


def test_metrics_and_labels_are_read() -> None:
    assert read_metrics([["cpu", "count"], ["a", ""]]) == (Metric("cpu", "count"), Metric("a", ""))
    assert read_label_sets([[["a", "b", None], ["c", "1", "bytes"]], []]) == (
        (Label("a", "b"), Label("c", "1", "bytes")),
        (),
    )


@pytest.mark.parametrize(
    "rows", [[["cpu", True]], [[1, "count"]], [["cpu"]], [None], 5, [[[], ""]]]
)
def test_malformed_metrics_are_rejected(rows: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        read_metrics(rows)


@pytest.mark.parametrize(
    "labels", [["a", [[]], None], ["a", 1, None], [None, "b", None], ["a", "b", 1], ["a"], 5]
)
def test_malformed_labels_are_rejected(labels: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        read_label_sets([[labels]])
