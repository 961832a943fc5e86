"""A module or a script's path is refused with what to give in its place; and that works."""

import importlib
import json
import runpy
from pathlib import Path
from types import ModuleType

import pytest

import helpers
from helpers.capture.text.error import instead

VERBS = {
    "show_autograph": "tensorflow",
    "show_bytecode": "",
    "show_code": "",
    "show_compiled": "torch",
    "show_evaluator": "",
    "show_graph": "tensorflow",
    "show_journey": "",
    "watch_breaks": "torch",
    "watch_call": "",
    "watch_compile": "torch",
    "watch_frames": "",
    "watch_names": "",
    "watch_ops": "",
    "watch_optimisation": "tensorflow",
    "watch_recompiles": "torch",
    "watch_stack": "",
    "watch_traces": "tensorflow",
}
SCRIPT = "RATE = 2\n\ndef scale(x):\n    return x * RATE\n\nprint(scale(3))\n"


@pytest.mark.parametrize(("name", "needs"), VERBS.items())
def test_a_verb_names_what_to_give_in_place_of_a_module_or_a_script(name, needs):
    if needs:
        pytest.importorskip(needs)
    verb = getattr(helpers, name)
    with pytest.raises(TypeError, match="; of a module, give a function, such as json.dump"):
        verb(json)
    for path in ("here/script.py", Path("here/script.py")):
        with pytest.raises(TypeError, match="; runpy.run_path"):
            verb(path)


def test_a_function_of_a_script_is_shown_as_any_other(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    scale = runpy.run_path(str(path))["scale"]
    rows = helpers.show_bytecode(scale).model.rows
    assert "RATE" in {row.argument for row in rows}
    assert "call scale(x = 3" in str(helpers.watch_frames(scale, 3))


def test_a_module_without_functions_or_with_code_of_its_own_is_asked_nothing():
    class Lazy(ModuleType):
        def __getattr__(self, name):
            raise AssertionError(name)

    assert instead(Lazy("lazy")) == "; of a module, give a function"
    assert instead(importlib.import_module("math")) == "; of a module, give a function"
    assert instead(3) == instead("script") == ""


def test_the_function_of_a_property_is_named_and_can_be_given():
    class Case:
        @property
        def three(self):
            return 3

    with pytest.raises(TypeError, match="give its fget, and the object as its argument"):
        helpers.watch_ops(Case.three, Case())
    assert helpers.watch_ops(Case.three.fget, Case()).model.title == "three: 0 ops"


def test_a_file_is_no_source_for_a_child():
    with pytest.raises(ValueError, match="is a file: give what is in it"):
        helpers.watch_in_child("here/script.py")
