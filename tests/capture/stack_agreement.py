"""Run in a bare child by test_stack.py: does the record agree with CPython, on this version?"""

import ctypes
import dis
import gc
import json
import sys
from functools import cache

from helpers.capture.cpython import disassembly, opcode_recorder
from helpers.capture.cpython.stack_run import record_instructions, record_stack_run
from helpers.internals import interpreter_frame
from tests.capture.stack_programs import PROGRAMS


def outcome(fn, args):
    """Return what a call gives or raises, as words."""
    try:
        return f"It returned {words(fn(*args))}."
    except Exception as error:
        return f"It raised {words(error)}."


def words(value):
    """Return the recorder's own words for a value."""
    from helpers.capture.text.value import short_repr

    return short_repr(value)


def programs_agree():
    """Every program ends as it does untraced, and every step's stack was read."""
    steps, wrong = 0, []
    for fn, args in PROGRAMS:
        run = record_stack_run(fn, *args)
        steps += run.recorded
        if run.outcome != outcome(fn, args) or not run.real:
            wrong.append([fn.__name__, run.outcome, outcome(fn, args), run.note])
    return {"steps": steps, "wrong": wrong}


def depths_agree():
    """The static depth is the one CPython saves: at each opcode on 3.11, at each line later."""
    right, wrong = 0, []

    def tracer(frame, event, argument):
        nonlocal right
        if frame.f_globals is not sys.modules["tests.capture.stack_programs"].__dict__:
            return None
        frame.f_trace = tracer
        frame.f_trace_opcodes = sys.version_info < (3, 12)
        place = (
            interpreter_frame.find_interpreter_frame(frame)
            + interpreter_frame.read_layout().stacktop
        )
        top = ctypes.c_int.from_address(place).value  # -1 where it is kept in a register
        saved = top - len(interpreter_frame.list_slot_names(frame.f_code)) if top >= 0 else None
        if event in ("line", "opcode") and saved is not None:
            static = disassembly.derive_depths(frame.f_code)[frame.f_lasti]
            right += static == saved
            if static != saved:
                wrong.append([frame.f_code.co_name, frame.f_lasti, static, saved])
        return tracer

    sys.settrace(tracer)
    for fn, args in PROGRAMS:
        outcome(fn, args)
    sys.settrace(None)
    return {"right": right, "wrong": wrong[:5]}


def stack_does_what_the_names_say():
    """LOAD_FAST leaves that local on top, LOAD_CONST that constant, STORE_FAST takes the top.

    Compared by identity between neighbouring steps: a depth that is off by one shows at once.
    """
    wrong, moves = [], 0
    for fn, args in PROGRAMS:
        moments = record_instructions(fn, args, look=id, fold=False).moments
        for a, b in zip(moments, moments[1:], strict=False):
            if a.activation is b.activation and (said := expected(a, b)):
                moves += 1
                if said[0] != said[1]:
                    wrong.append([fn.__name__, a.offset])
    return {"moves": moves, "wrong": wrong[:5]}


def expected(a, b):
    """Return (identity found, identity wanted) for three plain instructions, else nothing."""
    tables = a.activation.tables
    instruction = instructions(tables.code)[a.offset]
    name, arg = instruction.opname, instruction.arg
    if name == "LOAD_FAST" and len(b.slots) > len(a.slots):
        return b.slots[-1], a.slots[arg]
    if name == "LOAD_CONST" and len(b.slots) > len(a.slots):
        return b.slots[-1], id(tables.code.co_consts[arg])
    if name == "STORE_FAST" and len(b.slots) < len(a.slots):
        return b.slots[arg], a.slots[-1]
    return None


@cache
def instructions(code):
    """Return offset -> instruction."""
    return {i.offset: i for i in dis.get_instructions(code)}


def nothing_is_kept():
    """The record holds no reference: counts are the same after a thousand runs."""
    thing = object()

    def hold(x):
        return [x, x, str(x)[:3]]

    record_instructions(hold, (thing,))
    gc.collect()
    before = sys.getrefcount(thing)
    for _ in range(300):
        record_instructions(hold, (thing,))
    gc.collect()
    return {"drift": sys.getrefcount(thing) - before}


def tracing_is_given_back():
    """Afterwards no code object is instrumented, and no frame keeps a tracer."""

    def kept():
        yield sys._getframe()
        yield 1

    def use():
        generator = kept()
        return generator, next(generator)

    made = []
    record_instructions(lambda: made.append(use()), ())
    generator, frame = made[0]
    flags = [frame.f_trace is None, frame.f_trace_opcodes, sys.gettrace() is None]
    live = [bytes(fn.__code__._co_code_adaptive) for fn in (use,)]
    fresh = use.__code__.replace(co_name="use")._co_code_adaptive
    return {"flags": flags, "same size": len(live[0]) == len(fresh), "goes on": next(generator)}


def main():
    """Print every finding as JSON."""
    opcode_recorder.MOST_EVENTS = 10**6
    checks = (programs_agree, depths_agree, stack_does_what_the_names_say, nothing_is_kept)
    checks += (tracing_is_given_back,)
    print(json.dumps({check.__name__: check() for check in checks}))
