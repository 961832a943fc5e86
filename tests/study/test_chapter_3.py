"""helpers/study/chapter_3: the checks name what is wrong, and the coverage counts what is there."""

import ast
import inspect
import linecache
import os
import random
import symtable
from calendar import isleap, leapdays
from fnmatch import filter as pick
from genericpath import exists
from types import FunctionType

import pytest

from helpers import check
from helpers.capture.cpython.stack_run import record_stack_run
from helpers.mini import vm
from helpers.mini.vm import steps as finished
from helpers.study import chapter_3
from helpers.study.chapter_3.machine_differences import find_run_difference
from helpers.study.chapter_3.text_to_code import show_parts
from helpers.study.chapter_3.vm_steps import list_needs
from tests.mini import comparing, library
from tests.study.folded import EXERCISES

SAMPLE = 3_000 if os.environ.get("COURSE_SAMPLES") == "whole" else 60
STEPS = {step.__name__.lower(): step for step in vm.STEPS[1:]}


def typed_again(step: type) -> type:
    """Return a step with the same code in functions of its own, as if somebody had typed it."""
    body = {n: p for n, p in vars(step).items() if n not in ("__dict__", "__weakref__")}
    own = {n: p for n, p in body.items() if isinstance(p, FunctionType)}
    for n, p in own.items():
        own[n] = FunctionType(p.__code__, p.__globals__, n, p.__defaults__, p.__closure__)
    return type(step.__name__, step.__bases__, body | own)


@pytest.mark.parametrize("wrong", [5, "Names", None, int, vm.STEPS[1]()])
def test_what_is_no_class_of_handlers_fails(wrong):
    assert check.vm_names(wrong).model.state == "failed"


def test_the_first_place_where_the_stacks_part_is_told():
    class Wrong(vm.machine(*vm.STEPS)):
        def BINARY_OP(self, sign):
            left, right = self.pop(), self.pop()
            self.push(vm.ARITHMETIC[sign](left, right))

    row = find_run_difference(Wrong, _minus, (5, 8)).picture.rows[-1]
    assert (row.mark, row.mine, row.right) == ("≠", "[3]", "[-3]")


def _minus(a, b):
    return a - b


def test_a_silent_detour_is_seen_though_the_value_is_right():
    class Leaves(vm.machine(*vm.STEPS)):
        def UNARY_NOT(self):
            self.push(not self.stack[-1])

    def program(a):
        return not a

    reason = find_run_difference(Leaves, program, (0,))
    row = reason.picture.rows[-1]
    assert "gives True" in reason and (row.mine, row.right) == ("[0, True]", "[True]")


def test_the_handler_that_is_wrong_is_named_and_not_the_one_where_it_shows():
    class Wrong(typed_again(finished.Closures)):
        def LOAD_DEREF(self, name):
            self.push(0)

    assert "at LOAD_DEREF" in check.vm_closures(Wrong).model.because

    class Falls(typed_again(finished.Jumps)):
        def POP_JUMP_IF_FALSE(self, target):
            self.pop()

    assert "at POP_JUMP_IF_FALSE" in check.vm_jumps(Falls).model.because


def test_both_stacks_stand_side_by_side_up_to_where_they_part():
    class Wrong(typed_again(finished.Jumps)):
        def FOR_ITER(self, after):
            self.push(next(self.pop(), None))

    outcome = check.vm_jumps(Wrong)
    rows = outcome.model.picture.rows
    assert [row.mark for row in rows] == ["="] * 11 + ["≠"] and all(map(is_alike, rows[:-1]))
    assert not is_alike(rows[-1]) and "CPython's stack" in str(outcome)
    model = check.vm_names(type("Names", (typed_again(finished.Names),), {"SWAP": print})).model
    assert model.picture.rows[-1].mark == "≠" and check.vm_names(5).model.picture is None


def is_alike(row) -> bool:
    return row.mine == row.right and ";" not in row.at


def test_an_error_that_a_handler_has_caught_is_no_context_of_the_programs():
    class Own(typed_again(finished.Names)):
        def LOAD_FAST(self, name):
            try:
                self.push(self.local[name])
            except KeyError:
                self.value_of(name)

    assert check.vm_names(Own).model.state == "passed"


def test_coverage_counts_written_handlers_only():
    class Stub:
        def LOAD_FAST(self, name):
            return ...

    rows = chapter_3.show_opcode_coverage(*vm.STEPS).model.rows
    assert [row.so_far for row in rows] == [3, 9, 15, 22, 27, 31, 36]
    assert rows[0].functions < rows[-1].functions
    assert chapter_3.show_opcode_coverage(vm.STEPS[0], Stub).model.rows[-1].so_far == 3


def test_coverage_of_all_opcodes_is_everything():
    every = {name: print for names in list_needs() for name in names}
    model = chapter_3.show_opcode_coverage(type("Every", (), every)).model
    assert model.rows[0].share == "100.0 %" and model.note == ""


def test_the_solutions_in_the_place_of_the_machines_own_run_the_library():
    space = {}
    for name in STEPS:
        exec(EXERCISES[f"vm_{name}"].solution, space)
    mine = [space[step.__name__] for step in vm.STEPS[1:]]
    whole = vm.machine(*mine, *vm.WHOLE)
    assert sum(len(vm.written(step)) for step in mine) == 33
    for program in library.programs().values():
        assert comparing.outcome(whole().run, program) == comparing.outcome(program)


@pytest.mark.parametrize(
    ("steps", "fn", "args"),
    [
        (3, leapdays, (2000, 2030)),
        (4, isleap, (1900,)),
        (5, pick, (["a.py", "b.txt"], "*.py")),
        (6, ast.literal_eval, ("-3 + 4j",)),
        (7, exists, ("no/such/file",)),
    ],
)
def test_a_library_function_runs_after_a_step_and_not_before(steps, fn, args, refused):
    assert vm.machine(*vm.STEPS[:steps])().run(fn, *args) == fn(*args)
    refused(vm.Missing, "[A-Z]+_[A-Z]+", vm.machine(*vm.STEPS[: steps - 1])().run, fn, *args)


def test_a_part_has_its_node_scope_and_instruction():
    text = "K = 2\ndef make(n):\n    def add(m):\n        return n + m * K\n    return add\n"
    space = {}
    exec(text, space)
    line = ast.parse(text).body[1].body[0].body[0]
    [add] = symtable.symtable(text, "text", "exec").get_children()[0].get_children()
    rows = show_parts(text, line, add, space["make"](1).__code__).model.rows
    assert [row.scope for row in rows] == ["free", "local", "global", "", "", ""]
    assert [row.node for row in rows][3:] == ["BinOp 2 Mult 3", "BinOp 1 Add 4", "Return 5"]
    assert (rows[3].text, rows[3].place) == ("m * K", "4, 19 to 24")
    assert "BINARY_OP *" in rows[3].instruction


def test_a_finished_class_stands_in_for_one_that_is_all_stubs_and_the_title_says_so():
    class Names:
        def LOAD_FAST(self, name):
            return ...

    own = record_stack_run(vm.or_finished(*vm.STEPS[:3])().run, leapdays, 2000, 2030)
    lent = record_stack_run(
        vm.or_finished(vm.STEPS[0], Names, *vm.STEPS[2:3])().run, leapdays, 2000, 2030
    )
    assert own.steps == lent.steps
    assert "Names" in lent.title and "Names" not in own.title


KINDS = "ValueError", "KeyError", "TypeError"


def raising_lines(dice, depth=0):
    """Return lines that raise, catch and raise again a few exceptions, in a random nest."""
    again = ["raise"] if depth else []
    raises = [
        f"raise e{dice.randrange(3)}",
        f"raise e{dice.randrange(3)} from e{dice.randrange(3)}",
    ]
    lines = [dice.choice([*raises, *again, "pass"])]
    if depth < 3:
        inner = raising_lines(dice, depth + 1)
        caught = [
            f"except {dice.choice([*KINDS, 'Exception'])}:",
            *_indented(raising_lines(dice, depth + 1)),
        ]
        last = ["finally:", *_indented(raising_lines(dice, depth + 1))]
        ends = dice.choice([caught, last, [*caught, *last]])
        lines = ["try:", *_indented(inner), *ends, *dice.choice([[], lines])]
    return lines


def _indented(lines):
    return [f"    {line}" for line in lines]


def raising_program(seed):
    """Return a function that raises, with a source that a judge can quote."""
    made = [f"e{n} = {kind}({n})" for n, kind in enumerate(KINDS)]
    body = _indented([*made, *raising_lines(random.Random(seed))])
    source, file = "\n".join(["def program():", *body, ""]), f"<raising {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = {}
    exec(compile(source, file, "exec"), space)
    return space["program"]


def test_the_solution_raises_what_cpython_raises_with_its_causes_and_contexts():
    space = {}
    exec(EXERCISES["vm_exceptions"].solution, space)
    others = [step for step in vm.WHOLE if step is not finished.Exceptions]
    machine = vm.machine(space["Exceptions"], *others)
    for seed in range(SAMPLE):
        program = raising_program(seed)
        assert find_run_difference(machine, program, ()) is None, inspect.getsource(program)


def test_a_handler_may_bind_another_list_as_its_stack():
    class Rebinding(typed_again(finished.Operators)):
        def BINARY_OP(self, sign):
            *rest, left, right = self.stack
            self.stack = [*rest, vm.ARITHMETIC[sign](left, right)]

    assert check.vm_operators(Rebinding).model.state == "passed"
