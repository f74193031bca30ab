"""Values of the metrics of this process."""

from common.metrics import REGISTRY


def metric_value(name: str, **labels: str) -> float:
    """Return the value of a sample, 0 if it does not exist yet."""
    return REGISTRY.get_sample_value(name, labels) or 0.0
