"""Labels of foreign clients: mapped to a deployment, changed or left out instead of rejected."""

import pytest

from ingest.imports.labels import (
    MAX_ALL_BYTES,
    MAX_VALUE_BYTES,
    LabelRules,
    label_name,
    label_value,
    map_labels,
    service_name,
)
from projects.registration.registry import DeploymentKey

RULES = LabelRules(
    service=("service_name", "app.name"),
    version=("service.version", "version"),
    zone=("zone",),
    language=("language",),
    instance=("host",),
    ignored=("__name__", "telemetry.*"),
)


def test_labels_become_deployment_instance_and_free_labels() -> None:
    mapped = map_labels(
        {
            "service_name": "Shop API",
            "app.name": "unused",
            "version": "1.2",
            "zone": "eu-1",
            "language": "go",
            "host": "web-1",
            "__name__": "process_cpu",
            "telemetry.sdk.name": "otel",
            "Team.Name": "cart",
        },
        RULES,
    )
    assert mapped
    key = mapped.deployment
    assert key == DeploymentKey("shop-api", "eu-1", "1.2")
    assert key.language == "go"
    assert mapped.labels == {"instance": "web-1", "team-name": "cart"}
    assert mapped.warnings == ()


def test_an_empty_label_gives_way_to_the_next() -> None:
    mapped = map_labels({"service_name": " ", "app.name": "shop"}, RULES)
    assert mapped
    assert mapped.deployment.service == "shop"


def test_without_a_service_the_default_one_counts() -> None:
    assert map_labels({"zone": "a"}, RULES) is None
    mapped = map_labels({"zone": "a"}, RULES, default_service="Billing")
    assert mapped
    assert mapped.deployment.service == "billing"


def test_labels_beyond_the_limit_are_left_out_and_named() -> None:
    labels = {"service_name": "shop", **{f"label{i}": "v" * 500 for i in range(4)}}
    mapped = map_labels(labels, RULES)
    assert mapped
    assert list(mapped.labels) == ["label0", "label1"]
    assert mapped.warnings == (
        f"Labels beyond {MAX_ALL_BYTES:,} bytes were left out: label2, label3.",
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("shop", "shop"),
        ("my.app_2", "my.app_2"),
        ("../etc", "etc"),
        ("a{b=c}", "a-b-c"),
        ("é", ""),
        ("x" * 300, "x" * 255),
    ],
)
def test_service_names_are_made_valid(text: str, name: str) -> None:
    assert service_name(text) == name


def test_label_names_and_values_are_made_valid() -> None:
    assert label_name("k8s.pod.name") == "k8s-pod-name"
    assert label_name("_") == ""
    assert label_value("a\nb\0c") == "a b c"
    assert len(label_value("é" * MAX_VALUE_BYTES).encode()) <= MAX_VALUE_BYTES


def test_the_rules_of_the_settings_map_opentelemetry_resources() -> None:
    mapped = map_labels(
        {
            "service.name": "cart",
            "service.version": "2",
            "cloud.region": "eu",
            "telemetry.sdk.language": "go",
            "telemetry.sdk.name": "opentelemetry",
            "k8s.pod.name": "cart-7",
            "k8s.pod.uid": "1-2-3",
            "k8s.namespace.name": "shop",
            "process.pid": "12",
        },
        LabelRules.from_settings(),
    )
    assert mapped
    assert mapped.deployment == DeploymentKey("cart", "eu", "2")
    assert mapped.deployment.language == "go"
    assert mapped.labels == {"instance": "cart-7", "k8s-namespace-name": "shop"}
