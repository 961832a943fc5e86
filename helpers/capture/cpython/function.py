"""What a learner hands over -> a Python function or a code object, or one clear refusal."""

from functools import partial
from opcode import opmap
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
)

from helpers.capture.text.function_suggestions import instead
from helpers.capture.text.value import brief
from helpers.safety.arguments import by_type, is_exactly, own, printable
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200  # co_flags, Include/cpython/code.h
_SPACE, _NAME = (type.__dict__[name].__get__ for name in ("__dict__", "__name__"))
DEEPEST = 100  # partials of partials
_CODE_OF = {
    GeneratorType: "gi_code",
    CoroutineType: "cr_code",
    AsyncGeneratorType: "ag_code",
    FrameType: "f_code",
}
# The names of attributes stand in co_names too; only these instructions look in the globals. The
# argument of the first has a bit of its own below the number of the name.
_GLOBAL_LOOKUPS = {
    opmap[name]: bits
    for name, bits in (("LOAD_GLOBAL", 1), ("LOAD_NAME", 0), ("LOAD_FROM_DICT_OR_GLOBALS", 0))
    if name in opmap
}
_EXTENDED_ARG = opmap["EXTENDED_ARG"]


def function_of(thing: object, verb: str) -> tuple[FunctionType, tuple]:
    """Return the function to call and what goes before its arguments (the self of a method).

    TypeError, in one sentence, for anything that has no bytecode to run.
    """
    if type(thing) is FunctionType:
        return thing, ()
    if type(thing) is MethodType and type(thing.__func__) is FunctionType:
        return thing.__func__, (thing.__self__,)
    raise TypeError(f"{verb} needs a Python function{_why_not(thing)}")


def code_of(thing: object, verb: str) -> CodeType:
    """Return the code object of a function, method, generator or frame; a code object as it is.

    TypeError, in one sentence, for anything else.
    """
    if type(thing) is CodeType:
        return thing
    if attribute := by_type(_CODE_OF, thing):
        return getattr(thing, attribute)
    return function_of(thing, verb)[0].__code__


def check_flag(value: object, name: str) -> None:
    """Raise TypeError unless a switch is True or False; nothing else is asked for its truth."""
    if value is not True and value is not False:
        raise TypeError(f"{name} must be True or False, not {brief(value)}")


def can_be_called(thing: object) -> bool:
    """Return whether a call can be tried; of a partial of itself it would end the process."""
    deep = 0
    while type(thing) is partial and deep <= DEEPEST:
        thing, deep = thing.func, deep + 1
    return deep <= DEEPEST and callable(thing)


def refuse_async(fn: FunctionType, verb: str) -> None:
    """Raise TypeError for a coroutine function: its call runs nothing that could be watched."""
    if fn.__code__.co_flags & (COROUTINE | ASYNC_GENERATOR):
        raise TypeError(
            f"{verb} runs one call to its end, and a call of {brief(fn)} only makes a coroutine; "
            "give it a plain function that drives the coroutine with send(None)"
        )


def _why_not(thing: object) -> str:
    if issubclass(type(thing), type):
        return f": {_name(thing)} is a class; give one of its methods{_such_as(thing)}"
    if is_exactly(thing, type(len), type(str.upper), type(object.__init__), MethodType):
        return f": {brief(thing)} is written in C and has no bytecode"
    return f", not {brief(thing)}{_inside(thing) or instead(thing)}"


def _such_as(cls: type) -> str:
    """Return a method that stands in the class itself, as an example; one for others, if any is."""
    methods = (name for name, value in _SPACE(cls).items() if type(value) is FunctionType)
    names = [name for name in methods if type(name) is str]
    names.sort(key=lambda name: name.startswith("_"))
    return f", such as {_name(cls)}.{printable(names[0])}" if names else ""


def _name(cls: type) -> str:
    return printable(_NAME(cls))


def _inside(thing: object) -> str:
    """Return where the Python function is that an object calls, as the end of a sentence."""
    if type(thing) is partial:
        return "; give its `.func`"
    names = (name for name in ("__wrapped__", "__call__") if type(own(thing, name)) is FunctionType)
    return next((f"; give its `.{name}`" for name in names), "")


def names_used(code) -> set[str]:
    """Return the names that this code and the code inside it may look up as globals."""
    inner = [one for one in code.co_consts if type(one) is CodeType]
    return set(global_lookups(code).values()).union(*map(names_used, inner))


def global_lookups(code: CodeType) -> dict[int, str]:
    """Return offset -> name of each instruction that looks a name up as a global.

    The bytes are read here and not by `dis`, whose builtins a learner may have replaced.
    """
    found, high, steps = {}, 0, code.co_code
    for at, (opcode, low) in enumerate(zip(steps[::2], steps[1::2], strict=True)):
        argument = high << 8 | low
        high = argument if opcode == _EXTENDED_ARG else 0
        if opcode in _GLOBAL_LOOKUPS:
            found[2 * at] = code.co_names[argument >> _GLOBAL_LOOKUPS[opcode]]
    return found
