"""The facts on bytecode agree with what this Python compiles."""

import dis

from helpers.mini.versions import (
    find_stack_effect,
    is_never_followed,
    normalize_opname,
    pushes_pair,
)


def call_function(f, x):
    return f(x)


def call_method(text):
    return text.upper()


def generate():
    yield 1


def count_down(n):
    while n:
        n -= 1
    return n


def instructions(fn):
    return list(dis.get_instructions(fn))


def test_the_effects_of_a_straight_line_add_up_to_an_empty_stack():
    for fn in (call_function, call_method):
        depth = 0
        for instruction in instructions(fn):
            depth += find_stack_effect(instruction, jump=False)
            assert depth >= 0, instruction
        assert depth == 0, fn


def test_a_generator_drops_the_first_value_that_is_sent():
    names = [i.opname for i in instructions(generate)]
    start = names.index("RETURN_GENERATOR")
    first, second = instructions(generate)[start : start + 2]
    assert second.opname == "POP_TOP"
    assert find_stack_effect(first, jump=False) + find_stack_effect(second, jump=False) == 0


def test_a_jump_has_one_name_in_both_directions():
    names = {normalize_opname(i.opname) for i in instructions(count_down) if "JUMP" in i.opname}
    assert names <= {"JUMP", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE"}
    assert normalize_opname("JUMP_FORWARD") == normalize_opname("JUMP_BACKWARD") == "JUMP"
    assert normalize_opname("POP_JUMP_BACKWARD_IF_TRUE") == "POP_JUMP_IF_TRUE"
    assert normalize_opname("BINARY_OP") == "BINARY_OP"


def test_only_a_return_a_raise_and_an_unconditional_jump_are_never_followed():
    assert all(
        map(is_never_followed, ("RETURN_VALUE", "RAISE_VARARGS", "JUMP_BACKWARD", "JUMP_FORWARD"))
    )
    assert not any(
        map(is_never_followed, ("POP_JUMP_IF_TRUE", "JUMP_IF_TRUE_OR_POP", "FOR_ITER", "CALL"))
    )


def test_each_call_has_one_pair():
    assert sum(map(pushes_pair, instructions(call_function))) == 1
    assert sum(map(pushes_pair, instructions(call_method))) == 1
    assert sum(map(pushes_pair, instructions(count_down))) == 0
