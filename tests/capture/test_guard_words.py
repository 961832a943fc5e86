"""Torch's text of a guard in plain words, its line and its place; no torch is needed here."""

import pytest

from helpers.capture.torch import guard_words

TENSOR = (
    "check_tensor(L['x'], Tensor, DispatchKeySet(CPU, AutogradCPU), torch.float32, device=None, "
    "requires_grad=False, size=[None, 3], stride=[3, 1])"
)
# kind of guard, torch's texts
GUARDS = [
    ("EQUALS_MATCH", ["L['n'] == 2  # return x * n  # train.py:45 in step"]),
    ("TYPE_MATCH", ["___check_type_id(L['d'], 94), type=<class 'collections.OrderedDict'>"]),
    ("TENSOR_MATCH", [TENSOR]),
    ("NO_TENSOR_ALIASING", ["check_no_aliasing(L['x'], L['y'])"]),
    ("LENGTH_CHECK", ["len(L['d']) == 2"]),
    ("DICT_LENGTH", ["not L['d']"]),
    ("DICT_CONTAINS", ["not ___dict_contains('scale', L['d'])"]),
    ("A_KIND_OF_A_LATER_TORCH", ["___check_anew(L['x'], 0x7f1cfc10df80)"]),
]


def test_each_form_of_guard_has_its_sentence(snapshot):
    assert [guard_words.describe_guard(kind, parts) for kind, parts in GUARDS] == snapshot


@pytest.mark.parametrize(
    ("part", "line", "place"),
    [
        ("L['n'] == 2  # return x * n  # train.py:45 in step", "return x * n", "train.py:45"),
        ("L['n'] == 2  # return x * n  # /x/ipykernel_1/23.py:1 in step", "return x * n", ""),
        ("L['n'] == 2", "", ""),
    ],
)
def test_the_line_of_a_guard_is_one_of_the_users_program(part, line, place):
    assert guard_words.find_users_line([part]) == line
    assert guard_words.find_users_place([part]) == place
    assert guard_words.strip_remarks(part) == "L['n'] == 2"


def test_a_guard_with_only_a_place_in_torch_has_no_line():
    part = "L['n'] == 2  # _dynamo/output_graph.py:461 in init"
    assert guard_words.find_users_line([part]) == ""


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("L['options']['on']", "options['on']"),
        ("G['RATE']", "global RATE"),
        ("___from_numpy(L['a'])", "a"),
        ("list(dict.keys(L['d']))", "list(d)"),
        ("G['__import_torch_dot_nn'].Linear", "torch.nn.Linear"),
    ],
)
def test_a_source_is_named_as_in_the_function(source, name):
    assert guard_words.format_source(source) == name


@pytest.mark.parametrize(
    ("value", "required"), [(2.0, "int"), (True, ""), (3.0, ""), (2, ""), ("2", "")]
)
def test_a_type_is_required_only_where_an_equal_value_fails(value, required):
    assert guard_words.find_required_type("L['n'] == 2", value) == required
