"""Tables of functions, and the callers and callees of one function."""

from collections.abc import Callable, Sequence

from api.pyroscope.flame_graph import MAX_NODES, OTHER
from api.pyroscope.proto import querier_pb2 as pb
from profiles.query import FoldedTree, FunctionRow, ServicesTree

# Levels of callers and of callees; deeper ones are summed. Parsers of JSON and of protocol buffers
# limit the nesting of messages.
MAX_SANDWICH_LEVELS = 64
MAX_FUNCTIONS = MAX_NODES  # rows of a table


def function_table(rows: Sequence[FunctionRow], limit: int) -> pb.FunctionTable:
    """Return the first rows, as many as `limit`; MAX_FUNCTIONS of them if it is 0 or less."""
    listed = rows[: _row_limit(limit)]
    return pb.FunctionTable(
        functions=[
            pb.FunctionStats(name=row.name, self=row.self, total=row.total) for row in listed
        ],
        total=sum(row.self for row in rows),
        total_functions=len(rows),
    )


def function_tables(
    left: Sequence[FunctionRow], right: Sequence[FunctionRow], limit: int
) -> pb.FunctionTableDiff:
    """Return both sides with the same functions in the same order.

    Functions with the greatest share of either side come first, and the limit keeps these.
    """
    sides = [{row.name: row for row in rows} for rows in (left, right)]
    totals = [max(1, sum(row.self for row in rows)) for rows in (left, right)]

    def share(name: str) -> float:
        shares = [
            side[name].total / total
            for side, total in zip(sides, totals, strict=True)
            if name in side
        ]
        return max(shares)

    names = sorted({**sides[0], **sides[1]}, key=lambda name: (-share(name), name))
    tables = []
    for side in sides:
        rows = [side.get(name, FunctionRow(name, "", 0, 0, 0)) for name in names]
        table = function_table(rows, limit)
        table.total_functions = len(side)
        tables.append(table)
    return pb.FunctionTableDiff(left=tables[0], right=tables[1])


def _row_limit(requested: int) -> int:
    return min(requested, MAX_FUNCTIONS) if requested > 0 else MAX_FUNCTIONS


def sandwich(tree: ServicesTree | None, name: str, max_nodes: int) -> pb.SandwichReport:
    """Return a function's callers and callees; zero without a stack that reaches it."""
    report = _SandwichBuilder(name)
    if tree is not None:
        focus = tree.focus(name, max_nodes)
        if focus.row is not None:
            report.message.total, report.message.self = focus.row.total, focus.row.self
        report.add(report.message.callers, focus.callers, tree.context.check)
        report.add(report.message.callees, focus.callees, tree.context.check)
    report.message.names.extend(report.names)
    return report.message


class _SandwichBuilder:
    """Sandwich in progress, with the function's own name first."""

    def __init__(self, name: str) -> None:
        self.message = pb.SandwichReport()
        self.names = {name: 0}

    def add(self, root: pb.SandwichNode, folded: FoldedTree, check: Callable[[], None]) -> None:
        """Write a tree whose only root is the function; what was left out is a child OTHER."""
        check()
        tree = folded.tree
        strings, parents = tree.frames.strings, tree.parent.tolist()
        names = [strings[i] for i in tree.frames.name.tolist()]
        frames, own = tree.frame.tolist(), tree.self[0].tolist()
        totals, children = list(own), [list[int]() for _ in own]
        for node, (_, weight) in folded.folded.items():
            totals[node] += weight
        for node in range(len(own) - 1, 0, -1):
            totals[parents[node]] += totals[node]
            children[parents[node]].append(node)
        pending = [(0, root, 1)] if own else []
        while pending:
            node, message, level = pending.pop()
            message.name_index = self._number(names[frames[node]])
            message.total, message.self = totals[node], own[node]
            is_deepest = level == MAX_SANDWICH_LEVELS
            below = [] if is_deepest else children[node]
            left_out = totals[node] - own[node] - sum(totals[child] for child in below)
            for child in sorted(below, key=lambda child: (-totals[child], names[frames[child]])):
                pending.append((child, message.children.add(), level + 1))
            if left_out > 0:
                message.children.add(
                    name_index=self._number(OTHER), total=left_out, self=left_out, truncated=True
                )

    def _number(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names))
