"""Grammar of names in Python code: values are nouns, functions begin with a verb.

Idioms (`from_bytes`, `to_json`, `is_open`) begin with other words. Properties and fixtures are
values: a participle and a noun is a name for them.
"""

import ast
import re

# Neither a noun nor a verb: as a whole name they say nothing.
_FUNCTION_WORD = re.compile(
    r"""(?: of | what | who | whose | which | where | when | how | why | at | on | by | than
    | within | among | those | these | there | again )$""",
    re.VERBOSE,
)
_OPENS_WITH_PREPOSITION = re.compile(
    r"""(?: of | in | on | at | by | under | over | within | between | among | not | only | without
    | beside | beyond | while | until | since | as )_
    (?<! in_ (?=process) ) (?<! on_ (?=commit) )""",
    re.VERBOSE,
)
_ENDS_IN_PREPOSITION = re.compile(r"_(?:of|by|at|in|to|with)$")
_PARTICIPLE = re.compile(r"[a-z]{2,}(?:ed|wn|pt|ught|ilt|old|ade|ent)$")
# Verbs and nouns that end like participles.
_NO_PARTICIPLE = re.compile(
    r"""(?: accept | adopt | agent | argument | attempt | augment | breakdown | breed | build
    | client | comment | component | content | countdown | current | decrement | decrypt | degrade
    | deployment | different | distinct | document | down | element | embed | encrypt | environment
    | event | exceed | except | extent | feed | fold | fragment | hold | implement | increment
    | indent | interrupt | known | markdown | need | own | parent | percent | present | prevent
    | proceed | rebuild | recent | represent | script | seed | segment | send | shed | shutdown
    | speed | spend | statement | succeed | threshold | trade | unfold | unknown | upgrade )$""",
    re.VERBOSE,
)
_VALUE_DECORATORS = {"property", "cached_property", "fixture"}


def find_complaints(module: ast.Module) -> list[tuple[int, str, str]]:
    """Return line, name and complaint of each name that breaks the rules, in the order of lines."""
    complaints: set[tuple[int, str, str]] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if fault := _find_fault(node):
                complaints.add((node.lineno, node.name, f"function {node.name} {fault}"))
        elif isinstance(node, ast.arg):
            complaints |= _check_value(node.arg, node.lineno)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            complaints |= _check_value(node.id, node.lineno)
    return sorted(complaints)


def _find_fault(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    name = function.name.strip("_")
    if _FUNCTION_WORD.match(name):
        return "is named by a function word: begin with a verb"
    if _OPENS_WITH_PREPOSITION.match(name):
        return "is named by a preposition: begin with a verb"
    if _ENDS_IN_PREPOSITION.search(name):
        return "ends in a preposition: end with a noun"
    first = name.split("_")[0]
    if _PARTICIPLE.match(first) and not _NO_PARTICIPLE.match(first):
        decorators = (ast.unparse(each).split("(")[0] for each in function.decorator_list)
        if not _VALUE_DECORATORS & {each.split(".")[-1] for each in decorators}:
            return "is named by a participle: begin with a verb"
    return None


def _check_value(name: str, line: int) -> set[tuple[int, str, str]]:
    if not _FUNCTION_WORD.match(name):
        return set()
    return {(line, name, f"{name!r} names a value: use a noun")}
