"""Blocks in which Dynamo compiles apart from what the program compiled before.

What Dynamo compiles is stored on code objects, and `torch._dynamo.reset()` empties those that it
has met. So a block gets a list of its own of the code objects that Dynamo meets.
"""

import gc
import operator
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from types import CodeType, FunctionType

from ..safety.restoring import module, patched
from . import dynamo_codes, torch_private

TABLES = (  # a module, and the names in it that a block has for itself
    ("torch._dynamo.convert_frame", ("FRAME_COMPILE_COUNTER",)),
    ("torch._dynamo.eval_frame", ("cached_backends",)),
)
NEEDED = (  # dicts by code that `torch._dynamo.reset()` empties, and that cache entries need
    ("torch._dynamo.utils", "orig_code_map"),
    ("torch._dynamo.resume_execution", "ContinueExecutionCache.cache"),
    ("torch._dynamo.code_context", "code_context.code_context"),
)
SIZES = "torch._dynamo.pgo", ("_CODE_STATE", "_INIT_CODE_STATE")  # which sizes changed
NUMBERS = "torch._dynamo.convert_frame", "FRAME_COUNTER"


def earlier_code_kept() -> AbstractContextManager[None]:
    """Keep what Dynamo has compiled, whatever the block does. What it compiles there is forgotten.

    A `torch._dynamo.reset()` in the block forgets only what the block has compiled. What the block
    compiles of a code object that was compiled before is kept, too. Nothing is done if Dynamo is
    not loaded.
    """
    if module("torch._dynamo.convert_frame") is None:
        return nullcontext()
    return _keeping_earlier_code()


@contextmanager
def _keeping_earlier_code() -> Iterator[None]:
    with ExitStack() as stack:
        for home, names in TABLES:
            empty = {name: type(getattr(module(home), name))() for name in names}
            stack.enter_context(patched(module(home), **empty))
        if sizes := module(SIZES[0]):
            stack.enter_context(patched(sizes, **dict.fromkeys(SIZES[1])))
        home, name = NUMBERS
        stack.enter_context(patched(module(home), **{name: getattr(module(home), name)}))
        stack.enter_context(_counters_kept())
        stack.enter_context(dynamo_codes.use_own_code_lists())
        stack.enter_context(_needed_kept())
        try:
            yield
        finally:
            _forget()


@contextmanager
def compiled_apart() -> Iterator[None]:
    """Have Dynamo compile all functions anew in the block, as in a fresh process.

    Its cache is of a code object, so each function that it has met gets a copy of its code, and so
    does each function in whose code that of another one is written. The learner's own code objects
    are back after the block, with all that Dynamo had compiled.
    """
    met = dynamo_codes.list_met_codes() if module("torch._dynamo.convert_frame") else []
    before = [(fn, fn.__code__) for fn in _functions_with(met)]
    copies = {id(code): copied(code) for _, code in before}
    try:
        with earlier_code_kept():
            for fn, code in before:
                fn.__code__ = copies[id(code)]
            yield
    finally:
        for fn, code in before:
            if fn.__code__ is copies[id(code)]:  # else somebody gave it another in the block
                fn.__code__ = code


def copied(code: CodeType) -> CodeType:
    """Return a copy of a code object, and of those in it."""
    inside = (copied(one) if type(one) is CodeType else one for one in code.co_consts)
    return code.replace(co_consts=tuple(inside))


def _functions_with(codes: list[CodeType]) -> list[FunctionType]:
    """Return the functions whose code is one of these, or contains one of these."""
    wanted, files = {id(code) for code in codes}, {code.co_filename for code in codes}
    known = {}

    def contains(code: CodeType) -> bool:
        if id(code) not in known:
            inside = [each for each in code.co_consts if type(each) is CodeType]
            known[id(code)] = id(code) in wanted or any([*map(contains, inside)])
        return known[id(code)]

    functions = [each for each in gc.get_objects() if type(each) is FunctionType] if codes else []
    return [fn for fn in functions if fn.__code__.co_filename in files and contains(fn.__code__)]


def _forget() -> None:
    """Empty the caches of the code objects that Dynamo met first in the block."""
    home = module("torch._dynamo.convert_frame")
    for reference in (*home.input_codes.seen, *home.output_codes.seen):
        if (code := reference()) is not None:
            torch_private.reset_code(code)


@contextmanager
def _needed_kept() -> Iterator[None]:
    """Keep what entries of before need: Dynamo looks up their codes when it compiles again.

    The keys are weak, so that what belongs to a code goes with it.
    """
    with ExitStack() as stack:
        for home, name in NEEDED:
            with suppress(AttributeError):  # another torch has other names
                owner = operator.attrgetter(name)(module(home))
                stack.enter_context(patched(owner, clear=lambda: None))
        yield


@contextmanager
def _counters_kept() -> Iterator[None]:
    """Restore what `torch._dynamo.utils.counters` has counted."""
    counters = torch_private.dynamo_utils.counters
    before = {name: dict(counts) for name, counts in counters.items()}
    try:
        yield
    finally:
        for name, counts in counters.items():
            counts.clear()
            counts.update(before.get(name, {}))
