import sys
from types import ModuleType

from flamewatch.capture.stacks import Frame
from flamewatch.profile.naming import modules_by_file, namer


def module(name: str, file: object) -> ModuleType:
    made = ModuleType(name)
    made.__file__ = file  # type: ignore[assignment]
    return made


class Explosive(ModuleType):
    def __getattribute__(self, name: str) -> object:
        raise RuntimeError("somebody looked at me")


def test_functions_get_their_modules_name() -> None:
    name = namer({"/srv/shop/orders.py": "shop.orders"})
    assert (
        name(Frame("Cart.total", "/srv/shop/orders.py", 3, 1)).function == "shop.orders.Cart.total"
    )


def test_functions_of_main_and_unknown_files_have_no_module_prefix() -> None:
    name = namer({"/srv/app.py": "__main__"})
    assert name(Frame("main", "/srv/app.py", 3, 1)).function == "main"
    assert name(Frame("main", "<string>", 3, 1)).function == "main"


def test_frozen_modules_are_in_the_files_name() -> None:
    frame = Frame("_find_and_load", "<frozen importlib._bootstrap>", 1, 1)
    assert namer({})(frame).function == "importlib._bootstrap._find_and_load"


def test_named_frames_of_equal_frames_are_one_object() -> None:
    name, frame = namer({}), Frame("f", "/x.py", 1, 1)
    assert name(frame) is name(frame)


def test_modules_of_this_process_are_found_by_file() -> None:
    assert modules_by_file()[__file__] == __name__
    assert "json" in modules_by_file().values() or "json" not in sys.modules


def test_objects_in_sys_modules_that_are_no_plain_modules_are_skipped() -> None:
    odd = {
        "explosive": Explosive("explosive"),
        "number": 7,
        "none": None,
        "odd_file": module("odd_file", 7),
        "good": module("good", "/good.py"),
    }
    assert modules_by_file(odd) == {"/good.py": "good"}


def test_the_main_program_is_main_also_where_it_was_imported_again() -> None:
    again = {"app": module("app", "/app.py"), "__main__": module("__main__", "/app.py")}
    assert modules_by_file(again) == {"/app.py": "__main__"}
    assert modules_by_file(dict(reversed(again.items()))) == {"/app.py": "__main__"}
