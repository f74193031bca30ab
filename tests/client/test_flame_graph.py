"""Flame graph in the terminal."""

from flamewatch_client import flame_graph

TREE = {
    "names": ["main", "parse", "render", "tiny\x1b[2J"],
    "frames": {"name": [0, 1, 2, 3], "file": [0, 0, 0, 0]},
    "frame": [0, 1, 3, 2],
    "depth": [0, 1, 2, 1],
    "self": [10, 49, 1, 40],
    "folded": {"at": [], "count": [], "total": []},
}


def test_totals_are_self_and_children() -> None:
    assert flame_graph.sum_totals(TREE) == [100, 50, 1, 40]


def test_folded_nodes_count_in_the_totals_above() -> None:
    tree = TREE | {"folded": {"at": [1], "count": [3], "total": [6]}}
    assert flame_graph.sum_totals(tree) == [106, 56, 1, 40]


def test_graph_without_colours() -> None:
    assert flame_graph.draw(TREE, "shop CPU", 40, 10, False) == [
        "|shop CPU 100.0%",
        "|main 100.0%",
        "|parse 50.0%        |render 40.0%",
        "·",
    ]


def test_depth_limits_the_rows() -> None:
    assert len(flame_graph.draw(TREE, "shop", 40, 1, False)) == 2


def test_control_characters_of_names_are_replaced() -> None:
    lines = flame_graph.draw(TREE | {"self": [0, 0, 100, 0]}, "shop", 40, 10, False)
    assert lines[-1] == "|tiny�[2J 100.0%"


def test_colours_are_closed_after_each_frame() -> None:
    line = flame_graph.draw(TREE, "shop", 40, 10, True)[2]
    assert line.count("\x1b[38;5;16;48;5;") == line.count("\x1b[0m") == 2


def test_empty_tree_has_no_lines() -> None:
    empty = {"names": [], "frames": {"name": [], "file": []}, "frame": [], "depth": [], "self": []}
    assert flame_graph.draw(empty | {"folded": TREE["folded"]}, "shop", 40, 10, False) == []
