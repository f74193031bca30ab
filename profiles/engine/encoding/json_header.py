"""Metrics and sample labels in the JSON headers of stored trees and blocks, with checked types."""

from typing import Any

from profiles.engine.calltree.tree import Label
from profiles.engine.metrics import Metric


def read_metrics(rows: Any) -> tuple[Metric, ...]:
    """Read metrics, [[name, unit], …]. Raise `ValueError` or `TypeError` for anything else."""
    metrics = tuple(Metric(name, unit) for name, unit in rows)
    if not all(isinstance(text, str) for metric in metrics for text in metric):
        raise ValueError("the name or unit of a metric is not a string")
    return metrics


def read_label_sets(rows: Any) -> tuple[tuple[Label, ...], ...]:
    """Read label sets, [[[key, value, unit], …], …]; the unit of a text is null.

    Raise `ValueError` or `TypeError` for anything else.
    """
    label_sets = tuple(tuple(Label(*label) for label in labels) for labels in rows)
    for labels in label_sets:
        for key, value, unit in labels:
            if not (isinstance(key, str) and isinstance(value, str)):
                raise ValueError("the key or value of a sample label is not a string")
            if unit is not None and not isinstance(unit, str):
                raise ValueError("the unit of a sample label is not a string")
    return label_sets
