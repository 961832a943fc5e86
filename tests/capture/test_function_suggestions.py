"""A module or a script's path is refused with what to give in its place; and that works."""

import json

import pytest

import helpers

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


@pytest.mark.parametrize(("name", "needs"), VERBS.items())
def test_a_verb_names_what_to_give_in_place_of_a_module(name, needs):
    if needs:
        pytest.importorskip(needs)
    verb = getattr(helpers, name)
    with pytest.raises(
        TypeError, match="; for a module, pass one of its functions, such as json.dump"
    ):
        verb(json)
