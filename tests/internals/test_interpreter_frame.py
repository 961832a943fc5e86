"""helpers/internals/interpreter_frame.py: a frame's variables are read as CPython has them."""

import sys

import pytest

from helpers.internals import interpreter_frame
from helpers.internals.interpreter_frame import list_slot_names, read_local_variables

readable = pytest.mark.skipif(
    bool(interpreter_frame.find_unsupported()), reason="the layout of this Python is not known"
)


def test_slots_are_locals_then_cells_then_free_variables():
    free = 1

    def function(parameter, shared):
        local = free
        return lambda: (shared, owned, local)

        owned = 2

    assert list_slot_names(function.__code__) == ("parameter", "shared", "local", "owned", "free")


def test_the_variables_of_a_function_are_those_that_are_bound():
    free = "f"

    def function(plain, shared):
        inner = lambda: (shared, later, free)  # noqa: E731
        variables = dict(read_local_variables(sys._getframe()))
        later = inner
        return variables

    variables = function(1, [2])
    assert variables.pop("inner").__name__ == "<lambda>"
    assert variables == {"plain": 1, "shared": [2], "free": "f"}


@readable
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="f_locals is a view since 3.13")
def test_what_the_program_wrote_into_f_locals_stays():
    def function():
        value = 1
        frame = sys._getframe()
        variables = frame.f_locals
        variables["value"] = "written"
        assert read_local_variables(frame)["value"] == value
        return variables["value"]

    assert function() == "written"


def test_the_variables_of_a_module_are_its_namespace():
    namespace = {"read": read_local_variables, "sys": sys}
    exec("found = read(sys._getframe())", namespace)
    assert namespace["found"] is namespace


@readable
def test_another_python_is_not_read(monkeypatch):
    monkeypatch.setattr(interpreter_frame, "VERSIONS", ((3, 99),))
    assert interpreter_frame.find_unsupported()
