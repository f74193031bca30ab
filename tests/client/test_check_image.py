"""Image of a check: positions of changes and intervals, names from strangers, and no rows."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from flamewatch_client.check_image import render_svg
from flamewatch_client.check_report import CheckReport
from flamewatch_client.check_verdict import (
    ChangeKind,
    CheckLimits,
    CheckVerdict,
    ComparedCost,
    JudgedChange,
)

SVG = "{http://www.w3.org/2000/svg}"
TOTAL = ComparedCost("total", "", 1e9, 1.04e9, 0.03e9, 0.05e9, 1e-6)
SLOWER = ComparedCost("shop.price", "a.py", 80e6, 104e6, 22e6, 26e6, 1e-9)
FASTER = ComparedCost("shop.tax", "a.py", 80e6, 40e6, -42e6, -38e6, 1e-9)
ADDED = ComparedCost("shop.new", "a.py", 0.0, 9e6, 8e6, 10e6, 1e-9)


def build_report(*changes: tuple[ChangeKind, ComparedCost]) -> CheckReport:
    judged = tuple(JudgedChange(*change) for change in changes)
    verdict = CheckVerdict(CheckLimits(), 12, 12, TOTAL, None, judged, 4)
    return CheckReport(verdict, "shop", "CPU", "nanoseconds", "1.4", "1.5")


def read(report: CheckReport) -> ElementTree.Element:
    return ElementTree.fromstring(render_svg(report))


def find_texts(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def find_row(root: ElementTree.Element, name: str) -> ElementTree.Element:
    (row,) = [
        each
        for each in root.iter(f"{SVG}g")
        if str(each.findtext(f"{SVG}title")).startswith(f"{name}:")
    ]
    return row


def read_row(root: ElementTree.Element, name: str) -> tuple[float, float, float]:
    """Return the positions of the ends of the interval and of the change."""
    row = find_row(root, name)
    (bar,) = [each for each in row.iter(f"{SVG}path") if each.get("stroke-width") == "3"]
    found = re.fullmatch(r"M([\d.]+) [\d.]+H([\d.]+)", bar.get("d", ""))
    circle = row.find(f"{SVG}circle")
    assert found is not None
    assert circle is not None
    return float(found[1]), float(found[2]), float(circle.get("cx", ""))


def test_changes_are_placed_by_their_percents() -> None:
    root = read(build_report((ChangeKind.REGRESSION, SLOWER), (ChangeKind.IMPROVEMENT, FASTER)))
    (zero, threshold) = (
        float(re.split("[MV ]", each.get("d", ""))[1]) for each in root.findall(f"{SVG}path")
    )
    a_percent = (threshold - zero) / 10
    for name, low, high, change in (
        ("total", 3, 5, 4),
        ("shop.price", 27.5, 32.5, 30),
        ("shop.tax", -52.5, -47.5, -50),
    ):
        expected = [zero + a_percent * each for each in (low, high, change)]
        assert read_row(root, name) == pytest.approx(expected, abs=0.2), name
    texts = find_texts(root)
    assert "Flamewatch: regression of 1 function" in texts
    assert "shop CPU: 1.4 → 1.5" in texts
    assert ("+30.0%" in texts, "80 ms → 104 ms" in texts) == (True, True)
    assert "threshold +10 %" in texts


def test_added_function_has_no_place_but_its_values() -> None:
    row = find_row(read(build_report((ChangeKind.ADDED, ADDED))), "shop.new")
    assert row.find(f"{SVG}circle") is None
    assert [each.text for each in row.iter(f"{SVG}text")] == ["shop.new", "new", "0 ns → 9 ms"]


def test_great_change_ends_at_the_edge() -> None:
    great = replace(SLOWER, head=80e9, low=79e9, high=81e9)
    root = read(build_report((ChangeKind.REGRESSION, great)))
    _, high, change = read_row(root, "shop.price")
    assert high == change < float(root.get("width", "")) - 100
    assert read_row(root, "total")[1] < change


def test_names_of_strangers_are_text() -> None:
    name = "<script>alert(1)</script>\x1b[31m&" + "y" * 500
    root = read(build_report((ChangeKind.REGRESSION, replace(SLOWER, name=name))))
    assert not list(root.iter(f"{SVG}script"))
    (shown,) = [text for text in find_texts(root) if "yyy" in text]
    assert len(shown) == 46
    title = str(find_row(root, "<script>alert(1)</script>�[31m&" + "y" * 500)[0].text)
    assert "\x1b" not in title


def test_too_few_profiles_have_no_rows() -> None:
    report = build_report()
    report = replace(report, verdict=replace(report.verdict, base_profiles=2))
    root = read(report)
    assert "Flamewatch: not enough profiles to compare" in find_texts(root)
    assert not list(root.iter(f"{SVG}g"))
