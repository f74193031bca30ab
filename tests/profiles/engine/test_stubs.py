"""Stubs of the compiled modules: they name everything that Python can call, and nothing else."""

import ast
import importlib
from pathlib import Path
from typing import Any

import pytest
from Cython.Compiler import Errors, Nodes
from Cython.Compiler.TreeFragment import StringParseContext, parse_from_strings

ROOT = Path(__file__).parents[3]
SOURCES = sorted((ROOT / "profiles" / "engine").rglob("*.pyx"))
NAMES = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in SOURCES]

# Names of the parameters of each function and method ("Class.method"), without self.
Signatures = dict[str, list[str]]


def stub_of(source: Path) -> ast.Module:
    return ast.parse(source.with_suffix(".pyi").read_text())


def stubbed(source: Path) -> Signatures:
    found: Signatures = {}
    for node in stub_of(source).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = parameters(node)
        elif isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            found |= {f"{node.name}.{item.name}": parameters(item)[1:] for item in methods}
    return found


def parameters(node: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in node.args.args]


def compiled(source: Path) -> tuple[Signatures, set[str]]:
    """Return the signatures of the `def` and `cpdef` functions, and the names of properties."""
    Errors.init_thread()
    context = StringParseContext(source.name)
    context.set_language_level(3)
    tree = parse_from_strings(source.name, source.read_text(), context=context)
    found: Signatures = {}
    properties: set[str] = set()
    for node in statements(tree):
        if isinstance(node, Nodes.CClassDefNode):
            for item in statements(node.body):
                if is_property(item):
                    properties.add(f"{node.class_name}.{item.name}")
                elif is_callable(item):
                    name, (_, *names) = signature(item)
                    found[f"{node.class_name}.{name}"] = names
        elif is_callable(node):
            name, names = signature(node)
            found[name] = names
    return found, properties


def statements(tree: Any) -> list[Any]:
    body = getattr(tree, "body", tree)
    return [
        inner
        for node in body.stats
        for inner in (statements(node) if isinstance(node, Nodes.StatListNode) else [node])
    ]


def is_property(node: Any) -> bool:
    decorators = getattr(node, "decorators", None) or []
    return any(getattr(item.decorator, "name", "") == "property" for item in decorators)


def is_callable(node: Any) -> bool:
    return isinstance(node, Nodes.DefNode) or (
        isinstance(node, Nodes.CFuncDefNode) and bool(node.overridable)
    )


def signature(node: Any) -> tuple[str, list[str]]:
    if isinstance(node, Nodes.DefNode):
        return node.name, [argument_name(argument) for argument in node.args]
    declared = node.declarator
    return declared.base.name, [argument_name(argument) for argument in declared.args]


def argument_name(argument: Any) -> str:
    # `self` and other untyped arguments are parsed as a type without a name.
    return str(argument.declarator.name or argument.base_type.name)


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_the_stub_has_the_functions_of_its_module_with_their_parameters(source: Path) -> None:
    functions, _ = compiled(source)
    classes = {node.name for node in stub_of(source).body if isinstance(node, ast.ClassDef)}
    for name in [*functions]:
        cls, _, method = name.rpartition(".")
        # Classes for the module alone may be left out.
        if method == "__cinit__" or (method == "__init__" and cls not in classes):
            del functions[name]
    assert functions
    assert stubbed(source) == functions


@pytest.mark.parametrize(("source", "name"), list(zip(SOURCES, NAMES, strict=True)), ids=NAMES)
def test_the_stub_has_the_classes_and_fields_of_its_module(source: Path, name: str) -> None:
    module = importlib.import_module(name)
    assert Path(str(module.__file__)).suffix == ".so"
    fields: set[str] = set()
    for node in stub_of(source).body:
        if isinstance(node, ast.ClassDef):
            cls = getattr(module, node.name)
            names = {
                ast.unparse(item.target) for item in node.body if isinstance(item, ast.AnnAssign)
            }
            assert names <= {*dir(cls)}
            assert {ast.unparse(base) for base in node.bases} == {
                base.__name__ for base in cls.__bases__ if base is not object
            }
            fields |= {f"{node.name}.{field}" for field in names}
        elif isinstance(node, ast.FunctionDef):
            assert callable(getattr(module, node.name))
    assert compiled(source)[1] <= fields
