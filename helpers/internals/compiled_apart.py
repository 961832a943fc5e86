"""`with` blocks in which torch's Dynamo compiles, and the program keeps what was compiled before.

Dynamo stores what it compiles on code objects. It keeps a list of the code objects that it has met,
and `torch._dynamo.reset()` empties these code objects. Each block here gives Dynamo another list,
so that neither a reset nor the end of the block touches the code objects that were met before.
"""

import gc
import operator
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from types import CodeType, FunctionType

from ..safety.restoring import find_loaded_module, patched
from . import dynamo_codes, torch_private

# (module of torch, name of a table in it). In a block, each table is replaced by an empty one.
OWN_TABLES = (
    ("torch._dynamo.convert_frame", "FRAME_COMPILE_COUNTER"),
    ("torch._dynamo.eval_frame", "cached_backends"),
)
# (module of torch, name of a dict in it). The keys of each dict are code objects. Cache entries
# need the dicts, though `torch._dynamo.reset()` empties them.
NEEDED_TABLES = (
    ("torch._dynamo.utils", "orig_code_map"),
    ("torch._dynamo.resume_execution", "ContinueExecutionCache.cache"),
    ("torch._dynamo.code_context", "code_context.code_context"),
)


def keep_earlier_code() -> AbstractContextManager[None]:
    """Return a block that keeps what Dynamo compiled before it, and forgets what it compiles.

    A `torch._dynamo.reset()` in the block forgets only what the block has compiled. There is one
    exception: what the block compiles for a code object that Dynamo had met before is kept. If
    Dynamo is not loaded, the block does nothing.
    """
    if find_loaded_module("torch._dynamo.convert_frame") is None:
        return nullcontext()
    return _keep_earlier_code()


@contextmanager
def _keep_earlier_code() -> Iterator[None]:
    """Do what `keep_earlier_code` says, where Dynamo is loaded.

    `patched(owner, name=value)` sets an attribute in a block, and restores it after the block.
    """
    convert_frame = find_loaded_module("torch._dynamo.convert_frame")
    with ExitStack() as stack:
        for module_name, name in OWN_TABLES:
            owner = find_loaded_module(module_name)
            empty_table = type(getattr(owner, name))()  # a table of the same type
            stack.enter_context(patched(owner, **{name: empty_table}))
        size_notes = find_loaded_module("torch._dynamo.pgo")
        if size_notes:
            # Dynamo notes there which sizes of tensors changed between calls. None is the start
            # value, so the block begins without such notes.
            stack.enter_context(patched(size_notes, _CODE_STATE=None, _INIT_CODE_STATE=None))
        # Patched with its own value, so that the numbers that the block gives to frames are
        # forgotten after it.
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

    Dynamo's cache belongs to a code object. So in the block each function that Dynamo has met has a
    copy of its code object, for which nothing is compiled. A function gets a copy, too, if its code
    contains the code object of an inner function that Dynamo has met. After the block, the
    functions have their own code objects again, with all that Dynamo had compiled.
    """
    is_loaded = find_loaded_module("torch._dynamo.convert_frame") is not None
    met_codes = dynamo_codes.list_met_codes() if is_loaded else []
    earlier_codes = [(fn, fn.__code__) for fn in _find_functions_with(met_codes)]
    # id of a code object -> its copy. Functions that shared a code object share the copy.
    copies_by_id = {id(code): _copy_code(code) for _, code in earlier_codes}
    try:
        with keep_earlier_code():
            for fn, code in earlier_codes:
                fn.__code__ = copies_by_id[id(code)]
            yield
    finally:
        for fn, code in earlier_codes:
            # Somebody may have given the function another code object in the block. That one stays.
            if fn.__code__ is copies_by_id[id(code)]:
                fn.__code__ = code


def _copy_code(code: CodeType) -> CodeType:
    """Return a copy of a code object, in which the code of inner functions is copied, too.

    Dynamo has compiled nothing for a copy, because its cache entries are on the original.
    """
    constants = []
    for constant in code.co_consts:
        constants.append(_copy_code(constant) if type(constant) is CodeType else constant)
    return code.replace(co_consts=tuple(constants))


def _find_functions_with(codes: list[CodeType]) -> list[FunctionType]:
    """Return all functions in memory whose code object is one of `codes` or contains one of them.

    A code object contains those of its inner functions, in `co_consts`.
    """
    if not codes:
        return []
    wanted_ids = {id(code) for code in codes}
    wanted_files = {code.co_filename for code in codes}
    # id of a code object -> the answer of `contains_wanted`. Many functions may share a code
    # object. The key is an id, because the hash of a code object needs the hash of each constant.
    answers_by_id: dict[int, bool] = {}

    def contains_wanted(code: CodeType) -> bool:
        """Return whether a code object is one of `codes`, or contains one at any depth."""
        if id(code) not in answers_by_id:
            inner_codes = [const for const in code.co_consts if type(const) is CodeType]
            is_wanted = id(code) in wanted_ids
            answers_by_id[id(code)] = is_wanted or any(map(contains_wanted, inner_codes))
        return answers_by_id[id(code)]

    functions = [candidate for candidate in gc.get_objects() if type(candidate) is FunctionType]
    # A code object and those inside it are of one file, so most functions are ruled out quickly.
    functions = [fn for fn in functions if fn.__code__.co_filename in wanted_files]
    return [fn for fn in functions if contains_wanted(fn.__code__)]


def _forget_compiled_code() -> None:
    """Free what Dynamo stored on the code objects that it met first in the block.

    Dynamo's two lists have weak references to code objects: those that it compiled, and those that
    it made. In the block they have only what was met in the block.
    """
    convert_frame = find_loaded_module("torch._dynamo.convert_frame")
    for reference in (*convert_frame.input_codes.seen, *convert_frame.output_codes.seen):
        code = reference()
        if code is not None:  # it is still in memory
            torch_private.reset_code(code)


@contextmanager
def _keep_needed_tables() -> Iterator[None]:
    """Keep a `torch._dynamo.reset()` in the block from emptying the dicts of `NEEDED_TABLES`.

    Dynamo looks up the code objects of earlier cache entries in these dicts when it compiles
    again. The block may add to the dicts. Their keys are weak references, so an item goes when its
    code object is freed.
    """

    def clear() -> None:
        """Do nothing, in place of the method `clear` of a dict."""

    with ExitStack() as stack:
        for module_name, name in NEEDED_TABLES:
            with suppress(AttributeError):  # another torch has other names
                table = operator.attrgetter(name)(find_loaded_module(module_name))
                stack.enter_context(patched(table, clear=clear))
        yield


@contextmanager
def _restore_counters() -> Iterator[None]:
    """Restore `torch._dynamo.utils.counters` after the block to the counts before it."""
    counters = torch_private.dynamo_utils.counters  # name of a counter -> Counter
    earlier_counts = {name: dict(counts) for name, counts in counters.items()}
    try:
        yield
    finally:
        for name, counts in counters.items():
            counts.clear()
            counts.update(earlier_counts.get(name, {}))
