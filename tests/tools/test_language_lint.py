"""Language lint: coined terms, openings of docstrings, long template lines, repeated classes."""

from pathlib import Path

import pytest

from tools.language_lint import (
    AllowedName,
    Terms,
    check,
    find_repeated_classes,
    project_texts,
    read_terms,
)

TERMS = Terms(
    names={"asked": "params"}, parts={"patience": "timeout"}, phrases={"waiting rooms?": "queue"}
)


def complaints(path: str, text: str, terms: Terms = TERMS) -> list[str]:
    return [str(complaint) for complaint in check({path: text}, terms)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "x = 1\n_asked = 2\n"),
        ("a.pyi", "\nASKED: int\n"),
        ("a.pyx", "\ncdef int asked\n"),
        ("a.js", "// a\nconst asked = 1;\n"),
        ("a.c", "\nint asked;\n"),
        ("a.html", "<p>\n{% if asked.type %}{% endif %}\n"),
    ],
)
def test_coined_names_are_reported_with_their_replacement(path: str, text: str) -> None:
    (complaint,) = complaints(path, text)
    assert complaint.startswith(f"{path}:2: ")
    assert complaint.endswith("use params")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", '# asked\nx = "asked", \'asked\'\ny = """\nasked\n"""\nasked_types = 1\n'),
        ("a.pyx", "cdef str x = 'asked'  # asked\n"),
        ("a.js", "/* asked */ const x = 'asked'; // asked\n"),
        ("a.c", 'char *x = "asked"; /* asked\n asked */\n'),
        ("a.html", '<p>asked {% trans "asked" %} {{ x|add:"asked" }}\n'),
        ("a.md", "They asked for it.\n"),
    ],
)
def test_prose_and_longer_names_may_contain_the_word(path: str, text: str) -> None:
    assert complaints(path, text) == []


@pytest.mark.parametrize("name", ["PATIENCE", "patience_ms", "long_patience", "LongPatience"])
def test_word_within_a_name_is_reported(name: str) -> None:
    assert complaints("a.py", f"{name} = 1\n") == [
        f"a.py:1: {name}: use timeout instead of patience"
    ]


@pytest.mark.parametrize("path", ["a.py", "a.md", "a.html", "a.css", "Makefile"])
def test_phrases_are_reported_in_any_text(path: str) -> None:
    assert complaints(path, "x = 0\n# Waiting rooms.\n") == [
        f"{path}:2: “Waiting rooms”: use queue"
    ]


def test_listed_exception_allows_a_term() -> None:
    terms = Terms({"asked": "params"}, {}, {}, (AllowedName("asked", ("api/*",), "a JSON key"),))
    assert check({"api/a.py": "asked = 1\n"}, terms) == []
    texts = {"api/a.py": "asked = 1\n", "frontend/a.py": "asked = 1\n"}
    assert [complaint.path for complaint in check(texts, terms)] == ["frontend/a.py"]


def test_an_exception_that_nothing_needs_is_reported() -> None:
    terms = Terms({"asked": "params"}, {}, {}, (AllowedName("asked", ("api/*",), "a JSON key"),))
    (complaint,) = check({"api/a.py": "params = 1\n"}, terms)
    assert "the exception for asked in api/* is not needed any more" in complaint.text


@pytest.mark.parametrize(
    "entry",
    [
        '[[allowed]]\nterm = "asked"\npaths = ["*"]\nreason = ""',
        '[[allowed]]\nterm = "x"\npaths = ["*"]\nreason = "a key"',
        '[[grammar]]\nterm = "joined"\npaths = ["*"]\nreason = ""',
    ],
)
def test_exceptions_need_a_reason_and_a_listed_term(entry: str, tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    path.write_text(f'[names]\nasked = "params"\n[parts]\n[phrases]\n[classes]\n{entry}\n')
    with pytest.raises(ValueError, match=r"terms\.toml: exceptions without a reason"):
        read_terms(path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", '"""What a module does."""\n'),
        ("a.py", 'if True:\n    class A:\n        """Whether it is open."""\n'),
        ("a.py", 'def f():\n    """\n    How to do it.\n    """\n'),
        ("a.pyx", '    """Of one block."""\n'),
        ("a.js", "/** Where it is. */\n"),
        ("a.js", "  /**   Those of a row. */\n"),
        ("a.h", "/* Again, with a lock. */\n"),
        ("a.md", "## Who may read\n"),
    ],
)
def test_openings_as_a_fragment_are_reported(path: str, text: str) -> None:
    (complaint,) = complaints(path, text)
    assert "fragment" in complaint


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", '"""Blocks."""\nx = "What"\n\ndef f():\n    """Wheel."""\n    # What follows\n'),
        ("a.js", "// Whatever\n/** Whole. */\n"),
        ("a.md", "# Wholes\nWhat follows\n"),
    ],
)
def test_other_openings_are_fine(path: str, text: str) -> None:
    assert complaints(path, text) == []


def test_the_list_has_replacements_for_all_terms() -> None:
    terms = read_terms()
    replacements = {**terms.names, **terms.parts, **terms.phrases}
    assert replacements
    assert all(replacements.values())
    assert all(term == term.lower() for term in {**terms.names, **terms.parts})


def test_the_texts_are_those_of_the_project_without_vendored_files() -> None:
    texts = project_texts()
    assert {"manage.py", "Makefile", "agents/python/native/module.c", "docs/README.md"} <= set(
        texts
    )
    assert not [path for path in texts if "/vendor/" in path or path.startswith((".venv", ".git/"))]


def test_long_template_lines_are_reported() -> None:
    text = "<p>\n" + "x" * 160 + "\n" + "x" * 161 + "\n"
    assert complaints("a.html", text) == ["a.html:3: 161 characters; 160 fit"]
    assert complaints("a.css", text) == []


def test_two_classes_of_one_name_are_reported() -> None:
    texts = {"a.py": "class A: ...\nclass Meta: ...\n", "b.py": "class Meta: ...\nclass A: ...\n"}
    terms = Terms(classes={"Meta": "Django"})
    assert [str(complaint) for complaint in check(texts, terms)] == [
        "b.py:2: class A exists at a.py:1 too: one name, one concept"
    ]
    assert list(find_repeated_classes({"a.py": "class A: ...\nclass B: ...\n"})) == []


def test_classes_of_the_agent_may_share_names_with_the_server() -> None:
    texts = {"agents/python/a.py": "class A: ...\n", "a.py": "class A: ...\n"}
    assert check(texts, TERMS) == []


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def rendered(page): ...", "rendered"),
        ("async def _joined_rows(): ...", "_joined_rows"),
        ("def limits_of(project): ...", "limits_of"),
        ("def not_in_time(): ...", "not_in_time"),
        ("def of(rows): ...", "of"),
        ("def find_row(of): ...", "of"),
        ("def find_row(*, at=None): ...", "at"),
        ("for which in []: ...", "which"),
        ("class Range:\n    within: int", "within"),
    ],
)
def test_names_without_noun_or_verb_are_reported(code: str, name: str) -> None:
    (complaint,) = complaints("a.py", f"{code}\n")
    assert name in complaint


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", "def from_bytes(): ..."),
        ("a.py", "def to_json(): ..."),
        ("a.py", "def in_process(): ..."),
        ("a.py", "def on_commit(): ..."),
        ("a.py", "def send_profile(segment, offset): ..."),
        ("a.py", "@property\ndef parsed_rows(self): ..."),
        ("a.py", "rows.of = 1"),
        ("tests/test_a.py", "def limits_of(at): ..."),
        ("profiles/migrations/0001_a.py", "def shown(at): ..."),
    ],
)
def test_verbs_idioms_and_values_of_properties_are_accepted(path: str, code: str) -> None:
    assert complaints(path, f"{code}\n") == []


def test_listed_exception_allows_a_name_against_the_grammar() -> None:
    terms = Terms(grammar=(AllowedName("joined", ("api/*",), "pair of join"),))
    code = "def joined(): ...\n"
    assert check({"api/a.py": code}, terms) == []
    (complaint,) = check({"api/a.py": "", "frontend/a.py": code}, terms)[:1]
    assert complaint.path == "frontend/a.py"
