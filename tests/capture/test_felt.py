"""What a program can feel is the same with a tracer of ours and without one, on every Python."""

import gc
import sys
import warnings

import pytest

from helpers import code_swapped
from helpers.capture.cpython import (
    aside,
    bytecode,
    code_fields,
    costs,
    frame_attributes,
    frame_timeline,
    hooked_frames,
    settrace,
    specialisation,
    stack_run,
    traceback_chain,
    tracer_costs,
)
from helpers.capture.references.name_graph import build_names_graph
from helpers.capture.references.name_timeline import record_names
from helpers.capture.references.rebind import rebind_everywhere
from helpers.capture.references.routes import record_routes
from helpers.internals.frame_tracer import FrameTracer
from helpers.internals.interpreter_frame import read_local_variables

from .. import pythons
from . import felt_programs
from .felt_programs import PROGRAMS

VERBS = record_names, frame_timeline.record_frames, stack_run.record_stack_run
OWN_FILES = {settrace.__file__, hooked_frames.__file__}
REPEATED = 10


def feel(program, verb):
    felt = []
    verb(program, felt) if verb else program(felt)
    return felt


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_feels_the_same_with_and_without_a_tracer(program):
    before = sys.gettrace()
    plain = feel(program, None)
    sys.settrace(before)  # one program takes it away
    for verb in VERBS:
        assert (verb.__name__, feel(program, verb)) == (verb.__name__, plain)
        sys.settrace(before)


@pytest.mark.parametrize("version", pythons.OTHERS)
def test_other_pythons_agree(version):
    code = (
        f"sys.path.insert(0, {str(pythons.ROOT / 'tests' / 'capture')!r})\n"
        "import felt_programs\n"
        "from helpers.capture.cpython.frame_timeline import record_frames\n"
        "from helpers.capture.cpython.stack_run import record_stack_run\n"
        "from helpers.capture.references.name_timeline import record_names\n"
        "for program in felt_programs.PROGRAMS:\n"
        "    program(plain := [])\n"
        "    for verb in (record_names, record_frames, record_stack_run):\n"
        "        verb(program, felt := [])\n"
        "        if felt != plain: print(program.__name__, verb.__name__, plain, felt)\n"
    )
    differing = pythons.run(version, code).splitlines()
    # 3.13 asks a frame for a tracer before it sends opcodes.
    known = "asks_for_the_tracer record_stack_run"
    assert [line for line in differing if not (version == "3.13" and line.startswith(known))] == []


def test_the_example_of_the_issue_returns_what_plain_python_does():
    def writes():
        a = 1
        d = sys._getframe().f_locals
        d["a"] = 2
        _ = a
        return d["a"]

    assert record_names(writes).steps[-1].label.endswith(" 2")


def test_names_that_exec_made_are_no_names_of_the_function():
    def runs_exec():
        found = 3
        exec("b = 2")
        return found

    steps = record_names(runs_exec).steps
    assert all("b" not in labels(step.panel("names and objects")) for step in steps)
    calls = [s.label for s in frame_timeline.record_frames(runs_exec).steps if s.lane == "call"]
    assert calls == ["call runs_exec()", "call <module>"]


def labels(content):
    return [node.label for node in content.nodes] if hasattr(content, "nodes") else []


def test_a_call_has_its_arguments_and_no_other_names():
    factor = 3

    def scale(x, *rest, flag=False, **options):
        return x * factor

    steps = frame_timeline.record_frames(lambda: scale(1, 2, flag=True, k=4)).steps
    (label,) = [step.label for step in steps if "scale" in step.label and step.lane == "call"]
    assert label == "call scale(x = 1, flag = True, rest = (2,), options = {'k': 4})"


def test_what_asks_for_its_caller_finds_the_verb_s_file_as_the_package_says():
    found = []

    def asks():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.warn("of the caller", stacklevel=2)
        found.append((sys._getframe(1).f_code.co_filename, caught[0].filename))

    asks()
    assert found.pop() == (__file__, __file__)
    for verb in (*VERBS, hooked_frames.record_hooked_frames):
        verb(asks)
    assert len(found) >= len(VERBS) and {one for pair in found for one in pair} <= OWN_FILES
    assert "`warnings.warn(…, stacklevel=2)`" in (pythons.ROOT / "package/README.md").read_text()


def test_an_error_of_the_tracer_is_none_of_the_program_s():
    def broken(frame, event, argument):
        raise ZeroDivisionError("ours")

    tracer = FrameTracer(broken)
    tracer.start()
    try:
        result = sum(map(abs, [1, -2]))
        (lambda: None)()
    finally:
        assert tracer.is_ours()
        tracer.put_back()
    assert result == 3 and not tracer.finish() and isinstance(tracer.error, ZeroDivisionError)


def test_a_tracer_that_was_active_is_active_again():
    events = []

    def active(frame, event, argument):
        events.append(event)

    before = sys.gettrace()
    sys.settrace(active)
    try:
        for verb in VERBS:
            verb(felt_programs.closes_over, [])
            assert sys.gettrace() is active
    finally:
        sys.settrace(before)


def test_a_full_stack_is_told_and_breaks_nothing():
    def deep():
        try:
            deep.again()
        except RecursionError:
            return "caught"

    deep.again = lambda: deep.again()
    result = record_names(deep)
    assert result.steps[-1].label.endswith("returns 'caught'") or settrace.STACK_FULL in result.note


def test_looking_at_the_caller_s_names_leaves_its_snapshot_alone():
    value = 1
    snapshot = sys._getframe().f_locals
    snapshot["value"] = 2
    space = read_local_variables(sys._getframe())
    build_names_graph(space, ["value"])
    frame_attributes.list_frame_attributes(sys._getframe())
    assert space["value"] == 1
    assert snapshot["value"] == 2 or sys.version_info >= (3, 13)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_ten_uses_leave_nothing_behind(verb):
    def counted():
        gc.collect()
        return len(gc.get_objects())

    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(3):
            verb(felt_programs.closes_over, [])
        before = counted()
        for _ in range(REPEATED):
            verb(felt_programs.closes_over, [])
        assert counted() - before < REPEATED
        before = len(gc.get_objects())
        verb(felt_programs.closes_over, [])
        garbage = gc.collect()
    finally:
        (gc.enable if enabled else gc.disable)()
    assert garbage == 0, f"{garbage} objects in cycles, of {len(gc.get_objects()) - before}"


def called(x):
    return x * 2


def calls(x):
    def inner(y):
        return y + 1

    return called(x) + inner(x)


def raises():
    try:
        called(None)
    except TypeError as error:
        return error


def swaps():
    with code_swapped(called, lambda x: x * 3):
        assert calls(1) == 5


def rebinds():
    with rebind_everywhere(called, lambda x: x * 3):
        calls(1)


USES = {
    "show_bytecode": lambda: bytecode.list_bytecode(calls, caches=True, adaptive=True),
    "show_code": lambda: code_fields.build_code_tree(calls),
    "show_frame": lambda: frame_attributes.list_frame_attributes(sys._getframe()),
    "show_traceback": lambda: traceback_chain.list_traceback(raises()),
    "show_names": lambda: build_names_graph({"called": called}, ["called"]),
    "watch_specialising": lambda: specialisation.record_specialisation(
        calls, {"numbers": (1,)}, times=20
    ),
    "watch_routes": lambda: record_routes(
        *(called, calls, {"a": lambda: called(1)}, {"a": lambda: called}),
        {"swap": lambda: code_swapped(called, lambda x: x * 3)},
    ),
    "watch_hooked": lambda: hooked_frames.record_hooked_frames(calls, 1),
    "watch_names that raises": lambda: record_names(raises),
    "code_swapped": swaps,
    "rebind_everywhere": rebinds,
}


@pytest.mark.parametrize("verb", USES)
def test_ten_uses_of_any_verb_use_up_nothing(verb):
    code, enabled = called.__code__, gc.isenabled()
    gc.collect()
    gc.freeze()  # a search is quick in a small heap
    gc.disable()
    try:
        for _ in range(2):
            USES[verb]()
        gc.collect()
        before = len(gc.get_objects()), sys.getrefcount(called), sys.getrefcount(code)
        for _ in range(REPEATED):
            USES[verb]()
        gc.collect()
        after = len(gc.get_objects()), sys.getrefcount(called), sys.getrefcount(code)
    finally:
        gc.unfreeze()
        (gc.enable if enabled else gc.disable)()
    assert called.__code__ is code and after[1:] == before[1:]
    assert after[0] - before[0] < REPEATED


def test_a_specialising_copy_leaves_the_function_cold_and_names_what_it_warms():
    space = {}
    exec(compile(COLD, "/own/cold.py", "exec"), space)
    cold, helper = space["cold"], space["helper"]
    (inner,) = [one for one in cold.__code__.co_consts if hasattr(one, "co_code")]
    before = cold.__code__._co_code_adaptive, inner._co_code_adaptive
    listing = specialisation.record_specialisation(cold, {"numbers": (1,)})
    assert (cold.__code__._co_code_adaptive, inner._co_code_adaptive) == before
    assert listing.note.endswith(": helper.")
    assert "helper" not in specialisation.record_specialisation(helper, {"numbers": (1,)}).note


COLD = """
def helper(x):
    return x * 2
def cold(x):
    def inner(y):
        return y + 1
    return helper(x) + inner(x)
"""


def test_tracers_are_measured_without_the_one_that_is_active():
    events = []

    def active(frame, event, argument):
        events.append(event)

    before = sys.gettrace()
    sys.settrace(active)
    try:
        measured = tracer_costs.measure_tracers(called, 2)
        assert sys.gettrace() is active
        others = costs.measure_costs(lambda: None, {"same": lambda: None})
    finally:
        sys.settrace(before)
    assert aside.TRACER in measured.note
    assert "a tracer (sys.settrace)" in others.note
    assert "tracer" not in costs.measure_costs(lambda: None, {"same": lambda: None}).note or before


def test_the_empty_line_between_two_functions_has_no_number():
    program = felt_programs.calls_another
    for model in (
        stack_run.record_stack_run(program, []),
        frame_timeline.record_frames(program, []),
    ):
        lines = model.source.split("\n")
        between = [number for number, line in zip(model.numbers, lines, strict=True) if not line]
        assert between == [""]
