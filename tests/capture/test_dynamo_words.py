"""What Dynamo says, with all that differs from run to run taken out; no torch is needed here."""

from types import SimpleNamespace

import pytest

from helpers.capture.torch import dynamo_messages as words
from helpers.capture.torch.dynamo_events import RENAMED, DynamoEvent
from helpers.capture.torch.dynamo_instructions import describe_instruction, format_variable


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


# what Dynamo did for one instruction each
INSTRUCTIONS = [
    {"opname": "LOAD_FAST", "argrepr": "x", "new_guards": ("x: TENSOR_MATCH",)},
    {"opname": "LOAD_GLOBAL", "argrepr": "NULL + len"},
    {"opname": "BINARY_OP", "argrepr": "*", "stack": ("3", "n (lazy)"), "result": "6"},
    {"opname": "BINARY_OP", "argrepr": "*", "stack": ("x", "2"), "node_lines": ("mul = x * 2",)},
    {"opname": "CALL", "argrepr": "1", "result": "add", "entered_function": True},
    {"opname": "POP_JUMP_IF_FALSE", "stack": ("True",), "has_jumped": False},
    {"opname": "POP_JUMP_IF_FALSE", "stack": ("False",), "has_jumped": True},
    {"opname": "STORE_FAST", "argrepr": "y", "stack": ("mul",)},
    {"opname": "COPY", "argrepr": "1", "node_lines": (f"mul{RENAMED}y",)},
]


def test_each_instruction_has_its_sentence(snapshot):
    code = test_each_instruction_has_its_sentence.__code__
    events = [DynamoEvent("instruction", code, 1, **fields) for fields in INSTRUCTIONS]
    assert [describe_instruction(event, "") for event in events] == snapshot


def test_an_instruction_that_cannot_be_translated_has_only_its_cause():
    event = DynamoEvent("instruction", test_lazy_value_is_not_looked_at.__code__, 1)
    assert describe_instruction(event, "it is in C") == "it is in C."
