"""Two ways to one stack: read from CPython's memory, and kept by the small machine."""

import contextlib
import dis
import sys
from types import BuiltinFunctionType, GeneratorType, MethodType, MethodWrapperType, ModuleType

import pytest

from helpers.capture.text.value import short_repr
from helpers.mini import vm
from helpers.mini.vm.more_handlers import SavedVariable
from helpers.study.chapter_3.kept_stacks import record_first_frame
from tests.capture.stack_programs import PROGRAMS

ASYNC = "async_driven"  # the machine refuses it, in one sentence
METHODS_BY_BIT = sys.version_info >= (3, 12)


def kept_by_the_machine(fn, args) -> list:
    """Return (offset, stack) before every plain instruction of the first frame."""
    moments, pairs, loads = [], {}, _loads_of_methods(fn)

    def noting(name):
        def run_it(self, *arguments):
            step, obj = self.steps[self.at - 1], self.stack[-1] if self.stack else None
            if self.back is None and step.first:
                moments.append((step.offset, tuple(_words(self.stack, pairs))))
            getattr(super(Noting, self), name)(*arguments)
            if self.back is None and (step.offset, name) in loads:
                function = unbound(obj, step.arguments[0], self.stack[-1])
                pairs[id(self.stack[-1])] = self.stack[-1], function

        return run_it

    names = vm.opcodes(vm.Machine) - {"RETURN_GENERATOR"}
    Noting = type("frame", (vm.Machine,), {name: noting(name) for name in names})  # noqa: N806
    with contextlib.suppress(Exception):
        value = Noting().run(fn, *args)
        if type(value) is GeneratorType:
            list(value)
    return moments


def _loads_of_methods(fn):
    """Return where CPython pushes a method as two values, its function and its self."""
    names = ("LOAD_METHOD", "LOAD_ATTR", "LOAD_SUPER_ATTR")
    found = [i for i in dis.get_instructions(fn) if i.opname in names]
    kept = [i for i in found if i.opname == "LOAD_METHOD" or (METHODS_BY_BIT and i.arg & 1)]
    return {(i.offset, vm.plain_names(i.opname)[0]) for i in kept}


def unbound(obj, name, found):
    """Return the function behind a method of `obj`, so that none need be bound; None if none."""
    kind = type(found)
    if kind is MethodType:
        return found.__func__ if not isinstance(found.__self__, type) else None
    if kind in (BuiltinFunctionType, MethodWrapperType) and not isinstance(obj, (type, ModuleType)):
        return getattr(type(obj), name, None) if found.__self__ is obj else None
    return None


def _words(stack, pairs):
    for value in stack:
        value = value.value if type(value) is SavedVariable else value
        _, function = pairs.get(id(value), (None, None))
        if function is not None:
            yield short_repr(function)
            value = value.__self__
        if type(value) is GeneratorType:
            yield f"generator {value.__name__}"
        elif value is not vm.NULL:
            yield short_repr(value)


def compare(fn, args):
    plain = {step.offset for step in vm.plain(fn.__code__)[0] if step.first}
    real = [moment for moment in record_first_frame(fn, args) if moment[0] in plain]
    return real, kept_by_the_machine(fn, args)


@pytest.mark.parametrize(
    ("fn", "args"),
    [(fn, args) for fn, args in PROGRAMS if fn.__name__ != ASYNC],
    ids=[f"{fn.__name__}-{n}" for n, (fn, _) in enumerate(PROGRAMS) if fn.__name__ != ASYNC],
)
def test_both_stacks_agree_at_every_instruction(fn, args):
    real, ours = compare(fn, args)
    assert len(real) > 3
    assert real == ours


def test_a_stack_that_is_off_by_one_value_is_seen():
    real, ours = compare(*PROGRAMS[0])
    offset, stack = ours[5]
    assert real == ours and real != [*ours[:5], (offset, stack[1:]), *ours[6:]]
