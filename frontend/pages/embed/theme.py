"""Colours of embedded images in both themes, the same as those of the console."""

from collections.abc import Mapping
from dataclasses import dataclass

# Light and dark value of each token of flamewatch.css, which a test compares.
TOKENS: Mapping[str, tuple[str, str]] = {
    "surface": ("#ffffff", "#191a19"),
    "text": ("#1a1c19", "#ecedea"),
    "accent": ("#0a6a65", "#63cbbf"),
    "frame-text": ("#1a1c19", "#ffffff"),
    "own-1": ("#fbcc9e", "#5a2910"),
    "own-2": ("#e1bc52", "#794b13"),
    "own-3": ("#989745", "#8c6b0b"),
    "own-4": ("#f7f18b", "#8d6b55"),
    "own-rest": ("#cbcbb4", "#46372f"),
    "lib-1": ("#6181e5", "#075b97"),
    "lib-2": ("#03be77", "#0d623a"),
    "lib-3": ("#089893", "#00747b"),
    "lib-4": ("#6aaef6", "#027fa1"),
    "lib-5": ("#609e7c", "#268370"),
    "lib-6": ("#8680b8", "#0073dd"),
    "lib-7": ("#cfd1f9", "#015970"),
    "lib-8": ("#bb97ba", "#10316e"),
    "lib-rest": ("#d0eced", "#505a59"),
    "native": ("#c0c4be", "#3d4342"),
    "unknown": ("#b8adb1", "#48535a"),
    "same": ("#d9d9d3", "#4a4c49"),
}

# Colours of comparisons, with those of TOKENS["same"]; the same in both themes.
MORE, LESS = "#f5a45d", "#6fa8dc"


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours; labels on all fills have a contrast of 4.5 or more."""

    background: str
    text: str
    ink: str  # of labels on packages
    fills: Mapping[str, str]  # by token of package_colours.py
    highlight: str  # fill of nodes that a filter highlights
    highlight_ink: str


def _theme(index: int, highlight_ink: str) -> Theme:
    colours = {token: pair[index] for token, pair in TOKENS.items()}
    return Theme(
        background=colours["surface"],
        text=colours["text"],
        ink=colours["frame-text"],
        fills=colours,
        highlight=colours["accent"],
        highlight_ink=highlight_ink,
    )


THEMES: Mapping[str, Theme] = {"light": _theme(0, "#ffffff"), "dark": _theme(1, "#000000")}
