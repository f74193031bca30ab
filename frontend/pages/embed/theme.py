"""Colours of embedded images in both themes, the same as those of the console."""

from collections.abc import Mapping
from dataclasses import dataclass

# Light and dark value of each token of flamewatch.css, which a test compares.
TOKENS: Mapping[str, tuple[str, str]] = {
    "surface": ("#ffffff", "#191a19"),
    "text": ("#1a1c19", "#ecedea"),
    "accent": ("#0a6a65", "#63cbbf"),
    "frame-text": ("#1a1c19", "#ffffff"),
    "own-1": ("#f0ba72", "#724622"),
    "own-2": ("#c09c4e", "#8d5006"),
    "own-3": ("#a8a278", "#907025"),
    "own-4": ("#fceaa2", "#8f5a3c"),
    "own-rest": ("#eae0d0", "#585247"),
    "lib-1": ("#72a2f0", "#1776ca"),
    "lib-2": ("#7ed8a2", "#317563"),
    "lib-3": ("#60aea8", "#427e81"),
    "lib-4": ("#a8c0fc", "#366877"),
    "lib-5": ("#90b49c", "#2a8257"),
    "lib-6": ("#a29cc6", "#31799d"),
    "lib-7": ("#d2d8fc", "#1e5574"),
    "lib-8": ("#ccb4d2", "#3f4a9c"),
    "lib-rest": ("#d3dde6", "#3f5659"),
    "native": ("#d6d6cf", "#545050"),
}


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
