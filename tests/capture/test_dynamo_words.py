"""What Dynamo says, with all that differs from run to run taken out; no torch is needed here."""

from types import SimpleNamespace

import pytest

from helpers.capture.torch import dynamo_messages as words
from helpers.capture.torch.dynamo_instructions import format_variable


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("__compiled_fn_3_1c2d3e4f_8bea_4387_a740_9ab084429f72", "__compiled_fn"),
        ("__resume_at_114_2", "__resume_at_114"),
        ("G['__builtins_dict___6']['len']", "G['builtins']['len']"),
        ("<function f at 0x7f1cfc10df80>", "<function f>"),
        ('File "/home/me/lib/python3.11/site-packages/torch/a.py"', 'File "torch/a.py"'),
        ('File "/var/ipykernel_123/456.py", line 3', 'File "<cell>", line 3'),
        ("1.5 + 22 == x[3]", "1.5 + 22 == x[3]"),
    ],
)
def test_what_differs_between_runs_is_taken_out(said, told):
    assert words.clean_message(said) == told


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("L['a']", "a"),
        ("G['torch'].abs", "torch.abs"),
        ("G['__builtins_dict___0']['print']", "print"),
        ("G['__import_torch_dot_nn_dot_functional'].relu", "torch.nn.functional.relu"),
        ("L['___stack0']", "stack 0"),
        ("L['self']._modules['l']", "self._modules['l']"),
    ],
)
def test_sources_read_as_in_a_program(name, told):
    assert words.format_source(name) == told


def test_guards_of_one_value_share_a_line():
    assert words.group_guards(["a: X", "b: Y", "a: Z"]) == ["a: X, Z", "b: Y"]
    [grouped] = words.group_guards([f"a: KIND_{n}" for n in range(5)])
    assert grouped == "a: KIND_0, KIND_1 and 3 more"


def test_message_is_split_into_cause_and_explanation():
    said = (
        "Failed to trace\n  Explanation: it is in C.\n  Hint: none\n\n Developer debug context: x"
    )
    assert words.split_message(said) == ("Failed to trace", "it is in C.")
    assert words.split_message("") == ("no reason given", "")
    assert words.split_message("generic_jump TensorVariable()")[0] == words.JUMP
    assert words.split_message("x" * 1000)[0] == "x" * 1000  # torch's own words are not cut


def test_resume_functions_are_known_by_name():
    assert words.split_resume_name("torch_dynamo_resume_in_a_at_3_at_12") == ("a_at_3", 12)
    assert words.split_resume_name("f") == ("f", 0)


def test_lazy_value_is_not_looked_at():
    class Cache:
        vt = None

        @property
        def value(self):
            raise AssertionError("looked at")

    lazy = SimpleNamespace(_cache=Cache(), source=SimpleNamespace(name="L['a']"))
    assert format_variable(lazy) == "a (lazy)"
