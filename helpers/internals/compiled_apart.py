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

# A module of torch's, and a table in it that a block has for itself, empty.
OWN_TABLES = (
    ("torch._dynamo.convert_frame", "FRAME_COMPILE_COUNTER"),
    ("torch._dynamo.eval_frame", "cached_backends"),
)
# A module of torch's, and a dict in it whose keys are code objects. `torch._dynamo.reset()` empties
# the dict, and cache entries need it.
NEEDED_TABLES = (
    ("torch._dynamo.utils", "orig_code_map"),
    ("torch._dynamo.resume_execution", "ContinueExecutionCache.cache"),
    ("torch._dynamo.code_context", "code_context.code_context"),
)


def earlier_code_kept() -> AbstractContextManager[None]:
    """Keep what Dynamo has compiled, whatever the block does, and forget what the block compiles.

    A `torch._dynamo.reset()` in the block forgets only what the block has compiled. What the block
    compiles of a code object that was compiled before is kept, too. Nothing is done if Dynamo is
    not loaded.
    """
    if module("torch._dynamo.convert_frame") is None:
        return nullcontext()
    return _keep_earlier_code()


@contextmanager
def _keep_earlier_code() -> Iterator[None]:
    """Keep what Dynamo has compiled; Dynamo is loaded."""
    convert_frame = module("torch._dynamo.convert_frame")
    with ExitStack() as stack:
        for module_name, name in OWN_TABLES:
            owner = module(module_name)
            empty_table = type(getattr(owner, name))()  # a table of the same kind
            stack.enter_context(patched(owner, **{name: empty_table}))
        sizes = module("torch._dynamo.pgo")
        if sizes:  # Dynamo notes there which sizes of tensors have changed; None: nothing yet
            stack.enter_context(patched(sizes, _CODE_STATE=None, _INIT_CODE_STATE=None))
        # The block goes on with the number of the last frame, which is restored after it.
        frame_counter = convert_frame.FRAME_COUNTER
        stack.enter_context(patched(convert_frame, FRAME_COUNTER=frame_counter))
        stack.enter_context(_restore_counters())
        stack.enter_context(dynamo_codes.use_own_code_lists())
        stack.enter_context(_keep_needed_tables())
        try:
            yield
        finally:
            _forget_compiled_code()


@contextmanager
def compiled_apart() -> Iterator[None]:
    """Have Dynamo compile all functions anew in the block, as in a fresh process.

    Dynamo's cache belongs to a code object. So each function that Dynamo has met gets a copy of its
    code, and so does each function whose code contains that of such a function. After the block,
    the functions have their own code objects again, with all that Dynamo had compiled.
    """
    met = dynamo_codes.list_met_codes() if module("torch._dynamo.convert_frame") else []
    earlier_codes = [(fn, fn.__code__) for fn in _find_functions_with(met)]
    copies_by_id = {id(code): _copy_code(code) for _, code in earlier_codes}
    try:
        with earlier_code_kept():
            for fn, code in earlier_codes:
                fn.__code__ = copies_by_id[id(code)]
            yield
    finally:
        for fn, code in earlier_codes:
            if fn.__code__ is copies_by_id[id(code)]:  # else somebody gave it another in the block
                fn.__code__ = code


def _copy_code(code: CodeType) -> CodeType:
    """Return a copy of a code object that contains copies of the code objects in it."""
    constants = []
    for constant in code.co_consts:
        constants.append(_copy_code(constant) if type(constant) is CodeType else constant)
    return code.replace(co_consts=tuple(constants))


def _find_functions_with(codes: list[CodeType]) -> list[FunctionType]:
    """Return the functions whose code is one of these, or contains one of these."""
    if not codes:
        return []
    wanted_ids = {id(code) for code in codes}
    wanted_files = {code.co_filename for code in codes}
    # Many functions may share a code object. The key is its id, because the hash of a code
    # object asks its constants for theirs.
    answers_by_id: dict[int, bool] = {}

    def contains_wanted(code: CodeType) -> bool:
        """Return whether a code object is one of these, or contains one at any depth."""
        if id(code) not in answers_by_id:
            inner_codes = [each for each in code.co_consts if type(each) is CodeType]
            is_wanted = id(code) in wanted_ids
            answers_by_id[id(code)] = is_wanted or any(map(contains_wanted, inner_codes))
        return answers_by_id[id(code)]

    functions = [candidate for candidate in gc.get_objects() if type(candidate) is FunctionType]
    # Code that contains another is of the same file, so most functions are ruled out here.
    functions = [fn for fn in functions if fn.__code__.co_filename in wanted_files]
    return [fn for fn in functions if contains_wanted(fn.__code__)]


def _forget_compiled_code() -> None:
    """Empty the caches of the code objects that Dynamo met first in the block."""
    convert_frame = module("torch._dynamo.convert_frame")
    for reference in (*convert_frame.input_codes.seen, *convert_frame.output_codes.seen):
        code = reference()
        if code is not None:
            torch_private.reset_code(code)


@contextmanager
def _keep_needed_tables() -> Iterator[None]:
    """Have a `torch._dynamo.reset()` in the block leave the tables that earlier entries need.

    Dynamo looks up the codes of the entries there when it compiles again. The keys are weak, so
    that what belongs to a code goes with it.
    """

    def clear() -> None:
        """Do nothing, where the method of this name would empty a table."""

    with ExitStack() as stack:
        for module_name, name in NEEDED_TABLES:
            with suppress(AttributeError):  # another torch has other names
                table = operator.attrgetter(name)(module(module_name))
                stack.enter_context(patched(table, clear=clear))
        yield


@contextmanager
def _restore_counters() -> Iterator[None]:
    """Restore at the end what `torch._dynamo.utils.counters` has counted: name -> Counter."""
    counters = torch_private.dynamo_utils.counters
    earlier_counts = {name: dict(counts) for name, counts in counters.items()}
    try:
        yield
    finally:
        for name, counts in counters.items():
            counts.clear()
            counts.update(earlier_counts.get(name, {}))
